import { isOpen } from "../events/phase.ts";
import type { Connection } from "../connection/connection.ts";
import { createStore, type Store } from "../store.ts";
import { isDialKey } from "./phone-keys.ts";
import { toNumber } from "./phone-state.ts";
import { fromPcm } from "../media/pcm.ts";
import { restAudioContext, sharedAudioContext } from "../media/audio-context.ts";

const LIT_MS = 160;

export interface Keypad {
  /** The key that was pressed a moment ago. */
  readonly litKey: Store<string | undefined>;
  /** During a call a key goes to the bot, before it into the number to call. */
  press(key: string): void;
  /** Keys after this go to the end of what the user has typed. */
  continueNumber(): void;
}

export function createKeypad(connection: Pick<Connection, "phase" | "press">): Keypad {
  const litKey = createStore<string | undefined>(undefined);
  let unlight: ReturnType<typeof setTimeout> | undefined;
  let isDialling = false;
  return {
    litKey,
    press(key) {
      const open = isOpen(connection.phase.get());
      if (!open && !isDialKey(key)) return;
      void playKeyTone(key, { restAfter: () => !isOpen(connection.phase.get()) });
      litKey.set(key);
      clearTimeout(unlight);
      unlight = setTimeout(() => litKey.set(undefined), LIT_MS);
      if (open) {
        connection.press(key);
        isDialling = false;
        return;
      }
      // The first key begins a new number, as on a telephone.
      toNumber.set(isDialling ? toNumber.get() + key : key);
      isDialling = true;
    },
    continueNumber() {
      isDialling = true;
    },
  };
}

const VOLUME = 0.35;

let sounding = 0;

/** The two tones of a key, in the user's ear only. */
async function playKeyTone(key: string, options: { restAfter: () => boolean }): Promise<void> {
  const context = sharedAudioContext(); // sound may start only with the user's click
  const { keyTones } = await import("@vocalhost/simulator");
  const samples = fromPcm(keyTones(key, context.sampleRate));
  const buffer = context.createBuffer(1, samples.length, context.sampleRate);
  buffer.copyToChannel(samples, 0);
  const volume = new GainNode(context, { gain: VOLUME });
  const source = new AudioBufferSourceNode(context, { buffer });
  source.connect(volume).connect(context.destination);
  source.addEventListener("ended", () => {
    sounding -= 1;
    volume.disconnect();
    if (sounding === 0 && options.restAfter()) restAudioContext();
  });
  sounding += 1;
  source.start();
}
