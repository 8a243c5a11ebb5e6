import { summarizeCall, type CallReport } from "./call-summary.ts";
import { createTally } from "./call-tally.ts";
import { requireKeys } from "./caller/keypad.ts";
import { systemClock, type Clock } from "./clock.ts";
import { startTelephone, type Recordings, type Telephone } from "./line/telephone.ts";
import {
  SOCKET_OPEN,
  type CallHappening,
  type CallOutcome,
  type CallSocket,
  type HangUpReason,
  type PlaceCallOptions,
} from "./place-call-options.ts";

/** Calls a bot as the carrier would: over its media stream, in real time, until one side hangs up. */
export function placeCall(options: PlaceCallOptions): PhoneCall {
  const [lineHz, voiceHz] = [options.carrier.uplink.sampleRateHz, options.voice.sampleRateHz];
  if (lineHz !== voiceHz) throw new RangeError(`The line has ${lineHz} Hz, the caller's voice ${voiceHz} Hz`);
  const call = new Call(options);
  return {
    ended: call.ended,
    press: (digits) => call.press(digits),
    hangUp: () => call.hangUp("asked"),
    [Symbol.asyncDispose]: async () => {
      call.hangUp("asked");
      await call.ended;
    },
  };
}

export interface PhoneCall extends AsyncDisposable {
  /** Never rejects: a call that fails has an outcome too. */
  readonly ended: Promise<CallReport>;
  /** 0-9, *, # and A-D; a `w` waits half a second. Before the call stands they wait for it. */
  press(digits: string): void;
  hangUp(): void;
}

const CONNECT_TIMEOUT_MS = 10_000; // the strictest carrier gives up then, and
const MAX_CALL_MS = 3_600_000; // ends every call here
const CLOSE_TIMEOUT_MS = 2000; // for the bot's side of the closing handshake
const NORMAL_CLOSE_CODES = [1000, 1001, 1005];

class Call {
  readonly ended: Promise<CallReport>;
  readonly #options: PlaceCallOptions;
  readonly #clock: Clock;
  readonly #tally = createTally();
  readonly #settle: (report: CallReport) => void;
  readonly #dialledAtMs: number;
  readonly #socket: CallSocket;
  #telephone: Telephone | undefined;
  #recordings: Recordings | undefined;
  #outcome: CallOutcome | undefined;
  #earlyKeys = "";
  #error: unknown;
  #cancelDeadline: () => void;

  constructor(options: PlaceCallOptions) {
    const { promise, resolve } = Promise.withResolvers<CallReport>();
    this.ended = promise;
    this.#settle = resolve;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#dialledAtMs = this.#clock.nowMs();
    this.#cancelDeadline = this.#clock.setTimer(
      () => this.#giveUp("timed-out"),
      options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    );
    this.#socket = options.openSocket();
    this.#socket.addEventListener("open", () => this.#onOpen());
    this.#socket.addEventListener("message", ({ data }) => this.#onMessage(data));
    this.#socket.addEventListener("error", (event) => void (this.#error ??= event));
    this.#socket.addEventListener("close", ({ code, reason }) => this.#onClose(code, reason));
    if (options.signal?.aborted) this.hangUp("aborted");
    else options.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  press(digits: string): void {
    requireKeys(digits);
    if (this.#outcome) return;
    if (this.#telephone) this.#telephone.press(digits);
    else this.#earlyKeys += digits;
  }

  hangUp(reason: HangUpReason): void {
    if (this.#outcome) return;
    if (!this.#telephone) return this.#giveUp("aborted");
    this.#telephone.hangUp();
    this.#finish({ type: "hung-up", by: "caller", reason });
    this.#cancelDeadline = this.#clock.setTimer(() => this.#conclude(), CLOSE_TIMEOUT_MS);
    this.#socket.close(1000);
  }

  readonly #onAbort = (): void => this.hangUp("aborted");

  #onOpen(): void {
    if (this.#outcome) return this.#socket.close(1000);
    const { carrier, voice, surroundings, hangUpAfterSilenceMs, jitterMs, lossPercent, seed } = this.#options;
    const maxMs = this.#options.maxCallMs ?? MAX_CALL_MS;
    this.#cancelDeadline();
    this.#cancelDeadline = this.#clock.setTimer(() => this.hangUp("time-up"), maxMs);
    this.#tally.connectMs = this.#dialledMs();
    this.#tell({ type: "call-connected" });
    this.#telephone = startTelephone({
      ...{ carrier, voice, surroundings, hangUpAfterSilenceMs, jitterMs, lossPercent, seed, maxMs },
      clock: this.#clock,
      tally: this.#tally,
      dialledMs: () => this.#dialledMs(),
      send: (text) => this.#send(text),
      report: (happening) => this.#tell(happening),
      onSilence: () => this.hangUp("silence"),
    });
    if (this.#earlyKeys) this.#telephone.press(this.#earlyKeys);
  }

  #onMessage(data: unknown): void {
    if (this.#outcome || !this.#telephone) return;
    this.#tally.messagesIn += 1;
    if (typeof data === "string") {
      this.#tally.bytesIn += utf8.encode(data).length;
      this.#tell({ type: "message-received", text: data });
    }
    this.#telephone.receive(data);
  }

  #onClose(code: number, reason: string): void {
    if (!this.#telephone) {
      this.#finish({ type: "not-connected", reason: "refused", cause: this.#error ?? reason });
    } else if (NORMAL_CLOSE_CODES.includes(code)) this.#finish({ type: "hung-up", by: "bot", code });
    else this.#finish({ type: "dropped", code, reason });
    this.#conclude();
  }

  #giveUp(reason: "timed-out" | "aborted"): void {
    this.#finish({ type: "not-connected", reason, cause: undefined });
    this.#conclude();
    this.#socket.close(1000);
  }

  /** Nothing more is said or heard; the first outcome counts. */
  #finish(outcome: CallOutcome): void {
    if (this.#outcome) return;
    this.#outcome = outcome;
    this.#cancelDeadline();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#recordings = this.#telephone?.stop();
    this.#tell({ type: "call-ended", outcome });
  }

  #conclude(): void {
    const { carrier } = this.#options;
    const outcome = this.#outcome;
    if (!outcome) return;
    this.#cancelDeadline();
    const nothing = { samples: new Int16Array(0), sampleRateHz: carrier.downlink.sampleRateHz };
    const { durationMs, heard, said } = this.#recordings ?? { durationMs: 0, heard: nothing, said: nothing };
    const quiet = { utterances: [], loudMs: 0 };
    const summary = summarizeCall({
      ...{ carrier: carrier.name, outcome, durationMs, tally: this.#tally },
      bot: this.#telephone?.bot ?? quiet,
      caller: this.#telephone?.caller ?? quiet,
    });
    this.#settle({ outcome, summary, heard, said });
  }

  #send(text: string): void {
    if (this.#socket.readyState !== SOCKET_OPEN) return;
    this.#tally.messagesOut += 1;
    this.#tally.bytesOut += utf8.encode(text).length;
    this.#socket.send(text);
    this.#tell({ type: "message-sent", text });
  }

  #dialledMs(): number {
    return this.#clock.nowMs() - this.#dialledAtMs;
  }

  #tell(happening: CallHappening): void {
    this.#options.onEvent?.({ atMs: this.#dialledMs(), ...happening });
  }
}

const utf8 = new TextEncoder();
