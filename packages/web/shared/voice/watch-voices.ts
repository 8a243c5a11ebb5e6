import type { ConnectionReport } from "../events/connection-event.ts";
import { nowMs } from "../now.ts";
import { loudnessOf, toLevel } from "./loudness.ts";
import { SoundDetector } from "./sound-detector.ts";
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
