import type { AudioFrame } from "@vocalhost/audio";
import {
  createCarrier,
  createConversation,
  newCallIds,
  placeCall,
  type CallDetails,
  type CallEvent,
  type CallReport,
  type CallerVoice,
  type CarrierChoice,
  type PlaceCallOptions,
} from "@vocalhost/simulator";
import { WebSocket } from "ws";
import { patientMs } from "../../testing/patience.ts";
import { within } from "../../testing/wait.ts";

export interface DialOptions {
  carrier: CarrierChoice;
  url: string;
  /** Arguments that the set-up of the call hands to the bot. */
  parameters?: Record<string, string>;
  headers?: Record<string, string>;
  /** Said one after the other, each after an answer. */
  sentences?: AudioFrame[];
  interruptAfterMs?: number;
  /** Hums this tone without end instead. */
  toneHz?: number;
  /** Hang up when everything is said and the bot, having answered, has been quiet for so long. */
  hangUpAfterAnswerMs?: number;
  line?: Pick<PlaceCallOptions, "jitterMs" | "lossPercent" | "maxCallMs" | "seed">;
}

/** A call to a bot by a simulated telephone. */
export interface Call {
  readonly details: CallDetails;
  readonly events: CallEvent[];
  press(digits: string): void;
  hangUp(): void;
  /** The report, when the call is over. */
  ended(timeoutMs?: number): Promise<CallReport>;
}

export const FROM = "+12025550143";
export const TO = "+12025550199";
const MAX_CALL_MS = 40_000;

export function dial(options: DialOptions): Call {
  const { carrier: choice, line } = options;
  const details: CallDetails = {
    ids: newCallIds(choice.name),
    from: FROM,
    to: TO,
    parameters: options.parameters ?? {},
  };
  const carrier = createCarrier(choice, details);
  const events: CallEvent[] = [];
  const { sampleRateHz } = carrier.uplink;
  const voice =
    options.toneHz === undefined
      ? createConversation({
          sampleRateHz,
          sentences: options.sentences ?? [],
          ...(options.interruptAfterMs === undefined ? {} : { interruptAfterMs: options.interruptAfterMs }),
        })
      : createHum(options.toneHz, sampleRateHz);
  let quiet: NodeJS.Timeout | undefined;
  const call = placeCall({
    connectTimeoutMs: patientMs(10_000),
    carrier,
    voice,
    openSocket: () =>
      new WebSocket(options.url, { perMessageDeflate: false, headers: options.headers ?? {} }),
    onEvent(event) {
      events.push(event);
      if (event.type === "bot-speech-start" || event.type === "call-ended") clearTimeout(quiet);
      if (event.type === "bot-speech-end" && voice.isFinished && options.hangUpAfterAnswerMs !== undefined)
        quiet = setTimeout(() => call.hangUp(), options.hangUpAfterAnswerMs);
    },
    maxCallMs: MAX_CALL_MS,
    ...line,
  });
  return {
    details,
    events,
    press: call.press,
    hangUp: call.hangUp,
    ended: (timeoutMs = MAX_CALL_MS + 10_000) => within(call.ended, timeoutMs, "end of the call"),
  };
}

function createHum(toneHz: number, sampleRateHz: number): CallerVoice {
  const step = (2 * Math.PI * toneHz) / sampleRateHz;
  let at = 0;
  return {
    sampleRateHz,
    isFinished: false,
    next: (samples) => Int16Array.from({ length: samples }, () => Math.round(8_000 * Math.sin(step * at++))),
  };
}
