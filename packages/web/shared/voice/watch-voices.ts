import type { ConnectionReport } from "../events/connection-event.ts";
import { nowMs } from "../now.ts";
import { loudnessOf, toLevel } from "./loudness.ts";
import type { VoiceHistory } from "./voice-history.ts";

const LISTEN_EVERY_MS = 20;
const BLIND_AFTER_MS = 150; // a hidden tab is woken only once a second

/** Listens to both voices: fills the history, and reports the ends that response times need. */
export function watchVoices(options: {
  meters: () => { user: AnalyserNode | undefined; bot: AnalyserNode | undefined };
  history: VoiceHistory;
  report: (report: ConnectionReport & { atMs: number }) => void;
}): Disposable {
  const { meters, history, report } = options;
  const user = new SoundDetector({ threshold: 0.01, hangoverMs: 120 });
  const bot = new SoundDetector({ threshold: 0.004, hangoverMs: 200 });
  let lastMs = nowMs();
  const timer = setInterval(() => {
    const atMs = nowMs();
    if (atMs - lastMs > BLIND_AFTER_MS) {
      user.forget();
      bot.forget();
    }
    lastMs = atMs;
    const found = meters();
    const loudness = { user: loudnessOf(found.user), bot: loudnessOf(found.bot) };
    history.push({ user: toLevel(loudness.user), bot: toLevel(loudness.bot) }, atMs);
    const userChange = user.feed(loudness.user, atMs);
    if (userChange?.change === "stopped") report({ type: "user-quiet", atMs: userChange.atMs });
    const botChange = bot.feed(loudness.bot, atMs);
    if (botChange?.change === "started") report({ type: "bot-heard", atMs: botChange.atMs });
  }, LISTEN_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Tells when a signal begins and ceases to carry sound, above its own background noise. */
export class SoundDetector {
  readonly #threshold: number;
  readonly #hangoverMs: number;
  #floor = 0;
  #sounding = false;
  #lastSoundMs = 0;

  constructor({ threshold, hangoverMs }: { threshold: number; hangoverMs: number }) {
    this.#threshold = threshold;
    this.#hangoverMs = hangoverMs;
  }

  /** `stopped` is reported late, when the pause is certain; its time is that of the last sound. */
  feed(loudness: number, atMs: number): { change: "started" | "stopped"; atMs: number } | undefined {
    const isSound = loudness > Math.max(this.#threshold, this.#floor * FLOOR_FACTOR);
    const pull = loudness < this.#floor ? FLOOR_FALL : FLOOR_RISE;
    this.#floor += (Math.min(loudness, FLOOR_MAX) - this.#floor) * pull;
    if (isSound) {
      this.#lastSoundMs = atMs;
      if (this.#sounding) return undefined;
      this.#sounding = true;
      return { change: "started", atMs };
    }
    if (!this.#sounding || atMs - this.#lastSoundMs < this.#hangoverMs) return undefined;
    this.#sounding = false;
    return { change: "stopped", atMs: this.#lastSoundMs };
  }

  /** After a time of not listening nothing can be said about beginnings and ends. */
  forget(): void {
    this.#sounding = false;
  }
}

const FLOOR_FACTOR = 3;
const FLOOR_MAX = 0.02; // a long loud voice must not pass for noise
const FLOOR_FALL = 0.2;
const FLOOR_RISE = 0.002;
