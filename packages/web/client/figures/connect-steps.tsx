import { toDelay } from "../../shared/duration.ts";
import { useStore } from "../../shared/use-store.ts";
import type { ConnectStep } from "../../shared/events/connection-event.ts";
import { timeline } from "../state/client-state.ts";

const names: Record<ConnectStep, string> = {
  microphone: "Microphone",
  start: "Start request",
  connect: "Connection",
  bot: "Bot ready",
};
const shades = ["bg-accent/40", "bg-accent/60", "bg-accent/80", "bg-accent"];

/** Where the time between pressing the button and the bot being ready went. */
export function ConnectSteps() {
  const { steps, totalMs } = useStore(timeline);
  if (steps.length === 0) return null;
  return (
    <div>
      <h3 className="mb-2 text-sm font-semibold">
        Time to connect{totalMs === undefined ? "" : `: ${toDelay(totalMs)}`}
      </h3>
      <div aria-hidden="true" className="flex h-2 gap-0.5 overflow-hidden rounded-full">
        {steps.map(({ step, durationMs }, index) => (
          <div
            key={step}
            className={`min-w-1 ${shades[index] ?? "bg-accent"}`}
            style={{ flexGrow: Math.max(1, durationMs), flexBasis: 0 }}
          />
        ))}
      </div>
      <ul className="mt-2 grid grid-cols-2 gap-x-4 gap-y-1 text-[0.8125rem] sm:grid-cols-4">
        {steps.map(({ step, durationMs }, index) => (
          <li key={step} className="flex items-center gap-2">
            <span aria-hidden="true" className={`size-2 rounded-full ${shades[index] ?? ""}`} />
            <span className="text-muted">{names[step]}</span>
            <span className="ml-auto tabular-nums sm:ml-0">{toDelay(durationMs)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
