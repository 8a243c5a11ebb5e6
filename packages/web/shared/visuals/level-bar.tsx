import { useEffect, useRef } from "react";
import type { Connection } from "../connection/connection.ts";
import { loudnessOf, toLevel } from "../voice/loudness.ts";

const REFRESH_MS = 50;

/** How loud one side is right now. */
export function LevelBar({ connection, who = "user" }: { connection: Connection; who?: "user" | "bot" }) {
  const meter = useRef<HTMLDivElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let shown = 0;
    const timer = setInterval(() => {
      const media = connection.session?.link.media;
      const level = toLevel(loudnessOf(who === "user" ? media?.userMeter : media?.botMeter));
      shown = Math.max(level, shown * 0.8);
      bar.current?.style.setProperty("scale", `${shown.toFixed(3)} 1`);
      meter.current?.setAttribute("aria-valuenow", String(Math.round(shown * 100)));
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [connection, who]);
  return (
    <div
      ref={meter}
      role="meter"
      aria-label={who === "user" ? "Microphone level" : "Bot level"}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={0}
      className="mt-2 h-1 overflow-hidden rounded-full bg-line"
    >
      <div ref={bar} className="h-full origin-left scale-x-0 rounded-full bg-accent" />
    </div>
  );
}
