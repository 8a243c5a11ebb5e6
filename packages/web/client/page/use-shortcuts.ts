import { useEffect } from "react";
import { useConnection } from "../connection/use-connection.ts";
import { isPhoneKey } from "../../shared/phone/phone-keys.ts";
import { textBoxId } from "../../shared/conversation/text-box.tsx";
import { helpOpen, keypad, logOpen, singleKeys } from "../state/client-state.ts";

export const shortcuts = [
  { keyName: "Enter", action: "Connect or call" },
  { keyName: "Space", action: "Mute or unmute" },
  { keyName: "H", action: "Hang up" },
  { keyName: "T", action: "Type a message" },
  { keyName: "0-9 * # A-D", action: "Press a phone key; letters with Shift" },
  { keyName: "L", action: "Show or hide the event log" },
  { keyName: "Esc", action: "Leave the field, close the event log" },
  { keyName: "?", action: "Show this help" },
] as const;

export function useShortcuts(): void {
  const { phase, onPhone, connect, end, toggleMuted } = useConnection();
  useEffect(() => {
    const actions: Record<string, () => void> = {
      "?": () => helpOpen.set(true),
      l: () => logOpen.set(!logOpen.get()),
      Escape: () => logOpen.set(false),
    };
    if (phase.name === "live") {
      actions[" "] = toggleMuted;
      if (!onPhone) actions["t"] = () => document.getElementById(textBoxId)?.focus();
    } else {
      actions["Enter"] = () => connect();
    }
    if (phase.name === "live" || phase.name === "connecting") actions["h"] = end;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (event.key === "Escape" && event.target instanceof HTMLInputElement) {
        return event.target.blur();
      }
      if (singleKeys.get() !== "on" && event.key !== "Escape") return;
      if (helpOpen.get() || event.repeat || takesKey(event)) return;
      if (onPhone && isPhoneKey(event.key)) return keypad.press(event.key);
      const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [phase.name, onPhone, connect, end, toggleMuted]);
}

/** Whether what has the focus means this key for itself. */
function takesKey({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("input:not([type=radio]), textarea, select, [contenteditable]")) return true;
  const pressable = target.closest("button, summary, a, input");
  return pressable !== null && (key === " " || key === "Enter");
}
