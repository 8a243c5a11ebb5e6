import { useEffect, useRef } from "react";
import { connection } from "../page/client-state.ts";
import { loudnessOf, toLevel } from "./loudness.ts";

const REFRESH_MS = 50;

/** How loud the microphone is right now. */
export function LevelBar() {
  const meter = useRef<HTMLDivElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let shown = 0;
    const timer = setInterval(() => {
      const level = toLevel(loudnessOf(connection.session?.link.media.userMeter));
      shown = Math.max(level, shown * 0.8);
      bar.current?.style.setProperty("scale", `${shown.toFixed(3)} 1`);
      meter.current?.setAttribute("aria-valuenow", String(Math.round(shown * 100)));
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div
      ref={meter}
      role="meter"
      aria-label="Microphone level"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={0}
      className="mt-2 h-1 overflow-hidden rounded-full bg-line"
    >
      <div ref={bar} className="h-full origin-left scale-x-0 rounded-full bg-accent" />
    </div>
  );
}
