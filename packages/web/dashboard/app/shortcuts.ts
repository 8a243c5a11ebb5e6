import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { createSavedText, createStore } from "../../shared/store.ts";
import { toggleTheme } from "../../shared/theme.ts";

export const helpOpen = createStore(false);
/** Single keys can be in the way of speech input; the help dialog switches them off. */
export const singleKeys = createSavedText("vocalhost-single-keys", "on");

export const shortcuts = [
  { keyName: "g a", action: "Go to agents" },
  { keyName: "g u", action: "Go to usage" },
  { keyName: "g k", action: "Go to API keys" },
  { keyName: "g s", action: "Go to settings" },
  { keyName: "n", action: "Create an agent" },
  { keyName: "/", action: "Go to the search field" },
  { keyName: "c", action: "Switch between light and dark" },
  { keyName: "?", action: "Show this help" },
] as const;

const places: Record<string, string> = {
  a: "/agents",
  u: "/usage",
  k: "/settings/keys",
  s: "/settings",
};
const SECOND_KEY_MS = 1_500;

export function useShortcuts(): void {
  const navigate = useNavigate();
  useEffect(() => {
    let goUntilMs = 0;
    const press = (event: KeyboardEvent) => {
      if (singleKeys.get() !== "on" || event.ctrlKey || event.metaKey || event.altKey) return;
      if (
        event.repeat ||
        event.isComposing ||
        isTyping(event.target) ||
        document.querySelector("dialog[open]")
      )
        return;
      const place = performance.now() < goUntilMs ? places[event.key] : undefined;
      goUntilMs = 0;
      if (place !== undefined) return void navigate({ to: place });
      switch (event.key) {
        case "g":
          goUntilMs = performance.now() + SECOND_KEY_MS;
          return;
        case "n":
          return void navigate({ to: "/create-agent" });
        case "c":
          return toggleTheme();
        case "?":
          return helpOpen.set(true);
        case "/":
          event.preventDefault();
          return document.querySelector<HTMLInputElement>("input[type=search]")?.focus();
        default:
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [navigate]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest("input, textarea, select, [contenteditable], [role=menu]") !== null
  );
}
