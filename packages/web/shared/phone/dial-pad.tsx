import { useStore } from "../use-store.ts";
import { phoneKeys } from "./phone-keys.ts";
import { callFigures } from "./phone-state.ts";
import type { Keypad } from "./keypad.ts";

const spoken: Record<string, string> = { "*": "Star", "#": "Hash" };

/** The twelve keys: to the bot during a call, into the number before it. */
export function DialPad({ open, keypad }: { open: boolean; keypad: Keypad }) {
  const lit = useStore(keypad.litKey);
  // Before a call, a phone in the hand has the keys of the system to type a number.
  return (
    <section
      aria-label="Keypad"
      className={`shrink-0 border-line px-4 py-4 max-lg:order-first max-lg:border-b max-lg:pt-1 max-lg:pb-2 sm:px-5 lg:border-t ${open ? "" : "max-lg:hidden"}`}
    >
      <Pressed open={open} />
      <div className="mx-auto grid max-w-72 grid-cols-3 gap-2 max-lg:gap-1.5">
        {phoneKeys.map(({ key, letters }) => (
          <button
            key={key}
            type="button"
            aria-label={spoken[key]}
            data-lit={lit === key ? "" : undefined}
            className="flex h-12 touch-manipulation max-lg:h-11 flex-col items-center justify-center rounded-2xl border border-line bg-sunken leading-none transition-colors select-none hover:bg-line active:bg-accent-soft data-lit:border-accent data-lit:bg-accent-soft data-lit:text-accent"
            onClick={() => keypad.press(key)}
          >
            <span className={`font-medium ${key === "*" ? "mt-2 text-3xl" : "text-xl"}`}>{key}</span>
            {key !== "*" && key !== "#" && (
              <span aria-hidden="true" className="mt-1 h-2.5 text-[0.625rem] tracking-[0.14em] text-muted">
                {letters}
              </span>
            )}
          </button>
        ))}
      </div>
    </section>
  );
}

/** The keys the bot has been sent, newest at the right. */
function Pressed({ open }: { open: boolean }) {
  const { keys } = useStore(callFigures);
  return (
    <p className="mx-auto mb-3 flex h-6 max-w-72 max-lg:mb-0 items-center justify-center overflow-hidden text-[0.8125rem] text-muted">
      {open && keys ? (
        <span
          className="text-lg font-medium tracking-[0.2em] text-ink tabular-nums"
          aria-label={`Pressed: ${keys}`}
        >
          {keys.slice(-SHOWN_KEYS)}
        </span>
      ) : open ? (
        "Keys go to your bot as DTMF"
      ) : (
        "Keys fill in the number to call"
      )}
    </p>
  );
}

const SHOWN_KEYS = 14;
