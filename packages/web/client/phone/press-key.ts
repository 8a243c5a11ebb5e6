import { createStore } from "../../shared/store.ts";
import { isOpen } from "../connection/phase.ts";
import { connection } from "../page/client-state.ts";
import { playKeyTone } from "./key-tone.ts";
import { toNumber } from "./phone-state.ts";

const LIT_MS = 160;

/** The key that was pressed a moment ago. */
export const litKey = createStore<string | undefined>(undefined);

let unlight: ReturnType<typeof setTimeout> | undefined;
let isDialling = false;

/** During a call a key goes to the bot, before it into the number to call. */
export function pressKey(key: string): void {
  const open = isOpen(connection.phase.get());
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
}

/** Keys after this go to the end of what the user has typed. */
export function continueNumber(): void {
  isDialling = true;
}
