import type { CallEvent } from "./call-events.ts";
import type { CallSocket } from "./call-socket.ts";
import type { CallerVoice } from "./caller/caller-voice.ts";
import type { Carrier } from "./carriers/carrier.ts";
import type { Clock } from "./clock.ts";

export interface PlaceCallOptions {
  carrier: Carrier;
  /** Opens the bot's address; called once, at once. */
  openSocket: () => CallSocket;
  /** Who talks; its rate is the one of `carrier.uplink`. */
  voice: CallerVoice;
  /** What is heard around the caller: sent with the voice, and not taken for it. @default nothing */
  surroundings?: ((samples: number) => Int16Array) | undefined;
  onEvent?: (event: CallEvent) => void;
  /** Hang up when voice and bot have been quiet this long. @default never */
  hangUpAfterSilenceMs?: number | undefined;
  /** Longest call, and the end of every recording. @default 3_600_000 */
  maxCallMs?: number | undefined;
  /** @default 10_000 */
  connectTimeoutMs?: number | undefined;
  /** Sound of the caller comes up to this much late. @default 0 */
  jitterMs?: number | undefined;
  /** Share of the caller's audio that is lost on its way to the bot. @default 0 */
  lossPercent?: number | undefined;
  /** Seed of jitter and loss. @default 1 */
  seed?: number | undefined;
  /** Hangs up when it aborts. */
  signal?: AbortSignal | undefined;
  /** @default the system's */
  clock?: Clock | undefined;
}
