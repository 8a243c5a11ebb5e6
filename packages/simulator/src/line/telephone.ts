import type { AudioFrame } from "@vocalhost/audio";
import type { CallTally } from "../call-tally.ts";
import type { CallerVoice } from "../caller/conversation.ts";
import { createKeypad } from "../caller/keypad.ts";
import type { Carrier } from "../carriers/carrier.ts";
import type { Clock } from "../clock.ts";
import type { CallHappening } from "../place-call-options.ts";
import { createSeededRandom } from "../seeded-random.ts";
import { createDelivery } from "./delivery.ts";
import { createEarpiece } from "./earpiece.ts";
import { createMouthpiece } from "./mouthpiece.ts";
import type { VoiceMeter } from "./voice-meter.ts";

/** Begins to talk and to listen: everything between the open socket and hanging up. */
export function startTelephone(options: TelephoneOptions): Telephone {
  const { carrier, clock, voice, tally, send, report, dialledMs } = options;
  const startedAtMs = clock.nowMs();
  const streamMs = (): number => clock.nowMs() - startedAtMs;
  const random = createSeededRandom(options.seed ?? 1);
  const delivery = createDelivery({ ...options, random, keepsOrder: carrier.keepsOrder });
  const earpiece = createEarpiece({ ...options, streamMs, dialledMs, send: delivery.sendEvent });
  const mouthpiece = createMouthpiece({ ...options, delivery });
  const keypad = createKeypad({ clock, onKey: press });
  let finishedAtMs: number | undefined; // when there was nothing more to say

  function press(digit: string): void {
    tally.digits += digit;
    delivery.sendEvent(carrier.digit(digit, { streamMs: streamMs(), epochMs: clock.epochMs() }));
    report({ type: "digit-pressed", digit });
  }

  function onChunk(fromMs: number): void {
    earpiece.listen();
    mouthpiece.speak({
      atMs: fromMs,
      botTalkingSinceMs: earpiece.meter.talkingSinceMs,
      botLastHeardMs: earpiece.meter.lastLoudMs,
    });
    if (isQuietFor(options.hangUpAfterSilenceMs ?? Infinity)) options.onSilence();
  }

  function onLag(lagMs: number): void {
    tally.largestLagMs = Math.max(tally.largestLagMs, lagMs);
  }

  function isQuietFor(silenceMs: number): boolean {
    finishedAtMs = voice.isFinished && !keypad.isBusy ? (finishedAtMs ?? streamMs()) : undefined;
    if (finishedAtMs === undefined) return false;
    const quietSinceMs = Math.max(finishedAtMs, earpiece.meter.lastLoudMs ?? 0);
    return streamMs() - quietSinceMs >= silenceMs;
  }

  for (const text of carrier.opening()) send(text);
  const uplink = startUplink({ clock, chunkMs: carrier.chunkMs, onChunk, onLag });

  return {
    bot: earpiece.meter,
    caller: mouthpiece.meter,
    receive: (data) => earpiece.receive(data),
    press: keypad.press,
    hangUp() {
      delivery.flush();
      const last = carrier.stop();
      if (last !== undefined) send(last);
    },
    stop() {
      uplink.stop();
      keypad.stop();
      delivery.stop();
      earpiece.stop();
      mouthpiece.stop();
      return { durationMs: streamMs(), heard: earpiece.recording(), said: mouthpiece.recording() };
    },
  };
}

interface TelephoneOptions {
  carrier: Carrier;
  clock: Clock;
  voice: CallerVoice;
  surroundings?: ((samples: number) => Int16Array) | undefined;
  tally: CallTally;
  /** Longest call. */
  maxMs: number;
  /** Time since dialling. */
  dialledMs: () => number;
  send: (text: string) => void;
  report: (happening: CallHappening) => void;
  onSilence: () => void;
  hangUpAfterSilenceMs?: number | undefined;
  jitterMs?: number | undefined;
  lossPercent?: number | undefined;
  seed?: number | undefined;
}

export interface Telephone {
  readonly bot: VoiceMeter;
  readonly caller: VoiceMeter;
  receive(data: unknown): void;
  press(digits: string): void;
  /** Sends what is still to be sent, and the carrier's last message. */
  hangUp(): void;
  /** Ends talking and listening, at once. */
  stop(): Recordings;
}

export interface Recordings {
  durationMs: number;
  heard: AudioFrame;
  said: AudioFrame;
}

/** Calls `onChunk` once per chunk of microphone, when it has been spoken, without drift. */
export function startUplink(options: UplinkOptions): Uplink {
  const { clock, chunkMs, onChunk } = options;
  const startMs = clock.nowMs();
  let chunks = 0;
  let isStopped = false;
  let cancelTimer = schedule();

  function schedule(): () => void {
    return clock.setTimer(onTimer, Math.max(0, startMs + (chunks + 1) * chunkMs - clock.nowMs()));
  }

  function onTimer(): void {
    const sinceStartMs = clock.nowMs() - startMs;
    options.onLag?.(sinceStartMs - (chunks + 1) * chunkMs);
    const spoken = Math.floor((sinceStartMs + TIMER_SLACK_MS) / chunkMs);
    // A machine that slept has heard nothing meanwhile; a burst would only confuse the bot.
    if ((spoken - chunks) * chunkMs > MAX_LAG_MS) chunks = spoken - 1;
    while (chunks < spoken && !isStopped) {
      onChunk(chunks * chunkMs);
      chunks += 1;
    }
    if (!isStopped) cancelTimer = schedule();
  }

  return {
    stop() {
      isStopped = true;
      cancelTimer();
    },
  };
}

interface UplinkOptions {
  clock: Clock;
  chunkMs: number;
  /** Gets the time the chunk began, since the start. */
  onChunk: (fromMs: number) => void;
  /** How late this machine is, at every timer. */
  onLag?: (lagMs: number) => void;
}

interface Uplink {
  stop(): void;
}

const MAX_LAG_MS = 1000;
const TIMER_SLACK_MS = 0.5; // timers may come a fraction early
