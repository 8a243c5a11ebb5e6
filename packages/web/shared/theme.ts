import { createSavedText } from "./store.ts";

/** Empty: as the system says. */
export type Theme = "" | "light" | "dark";

// The page's first script reads the same key before anything is painted.
const saved = createSavedText("vocalhost-theme");

export function isDark(): boolean {
  const chosen = saved.get();
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Turns to the other theme; choosing what the system says anyway follows the system again. */
export function toggleTheme(): void {
  const dark = !isDark();
  const systemDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const theme: Theme = dark === systemDark ? "" : dark ? "dark" : "light";
  saved.set(theme);
  if (theme) document.documentElement.dataset["theme"] = theme;
  else delete document.documentElement.dataset["theme"];
}

export function onThemeChange(listener: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", listener);
  const unsubscribe = saved.subscribe(listener);
  return () => {
    system.removeEventListener("change", listener);
    unsubscribe();
  };
}
