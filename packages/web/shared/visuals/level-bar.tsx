import { useEffect, useRef } from "react";
import type { Connection } from "../connection/connection.ts";
import { loudnessOf, toLevel } from "../voice/loudness.ts";

const REFRESH_MS = 100;

/** How loud one side is right now. */
export function LevelBar({ connection, who = "user" }: { connection: Connection; who?: "user" | "bot" }) {
  const meter = useRef<HTMLDivElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let level = 0;
    let shown = 0;
    const timer = setInterval(() => {
      const media = connection.session?.link.media;
      const heard = toLevel(loudnessOf(who === "user" ? media?.userMeter : media?.botMeter));
      level = Math.max(heard, level * 0.64);
      const percent = Math.round(level * 100);
      if (percent === shown) return; // silence is drawn once
      shown = percent;
      bar.current?.style.setProperty("scale", `${percent}% 1`);
      meter.current?.setAttribute("aria-valuenow", String(percent));
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
      <div
        ref={bar}
        className="h-full origin-left scale-x-0 rounded-full bg-accent transition-[scale] duration-100 ease-linear"
      />
    </div>
  );
}
