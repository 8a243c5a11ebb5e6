import { useEffect } from "react";
import { createStore } from "../../shared/store.ts";
import { useStore } from "../../shared/use-store.ts";
import { IconButton } from "../../shared/button.tsx";
import { Icon } from "../../shared/icon.tsx";

interface Toast {
  text: string;
  tone: "good" | "bad";
}

const shown = createStore<Toast | undefined>(undefined);
const SHOWN_MS = 6_000;

/** Shows that an action succeeded. A failure is shown where the action was tried. */
export function say(text: string, tone: Toast["tone"] = "good"): void {
  shown.set({ text, tone });
}

export function Toasts() {
  const toast = useStore(shown);
  useEffect(() => {
    if (!toast || toast.tone === "bad") return undefined;
    const timer = setTimeout(() => shown.set(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [toast]);
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-4 bottom-20 z-40 flex justify-center md:right-6 md:bottom-6 md:left-auto"
    >
      {toast && (
        <div className="pointer-events-auto flex max-w-md items-center gap-3 rounded-xl border border-line bg-surface py-1.5 pr-1.5 pl-4 text-sm shadow-lg">
          <Icon
            name={toast.tone === "good" ? "check" : "warning"}
            className={`size-4 ${toast.tone === "good" ? "text-accent" : "text-danger"}`}
          />
          <span className="min-w-0 [overflow-wrap:anywhere]">{toast.text}</span>
          <IconButton icon="close" label="Dismiss" className="size-9" onClick={() => shown.set(undefined)} />
        </div>
      )}
    </div>
  );
}
