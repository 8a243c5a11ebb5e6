import {
  createCarrier,
  createSurroundings,
  openWebSocket,
  parseSurroundings,
  placeCall,
  writeStereoWav,
  type CallEvent,
  type CallOutcome,
  type CallReport,
  type Carrier,
  type PhoneCall,
} from "@vocalhost/simulator";
import type { CallChoice, OpenSession, OpenSessionOptions } from "../connection/open-session.ts";
import type { ConnectionReport } from "../events/connection-event.ts";
import { problem, problemFromMicrophone, type Problem } from "../events/problem.ts";
import { restAudioContext } from "../media/audio-context.ts";
import { SocketMedia } from "../media/socket-media.ts";
import { nowMs } from "../now.ts";
import { watchVoices } from "../voice/watch-voices.ts";
import { toEnding, toLoggedMessage } from "./call-ending.ts";
import { emptyFigures, leadMs, nextFigures } from "./call-figures.ts";
import { createMicrophoneVoice, toBars, type MicrophoneVoice } from "./microphone-voice.ts";
import { callFigures, chosenBackground, chosenBackgroundLevel, finishedCall } from "./phone-state.ts";
import { createCallDetails, requestCall } from "./request-call.ts";

export function openPhoneSession(options: OpenSessionOptions): OpenSession {
  const { call } = options;
  if (!call) throw new Error("There is no call to place");
  return new PhoneSession(options, call);
}

const MICROPHONE_LIMIT_MS = 60_000; // a person has to answer a question
const LAST_WORD_LIMIT_MS = 1_000;
const SHOW_EVERY_MS = 250;
const PAUSE_MS = 400; // of quiet, before the simulator calls an utterance ended
const BARS = 120;

/** One call to the bot as a carrier would bring it, from the microphone's permission to its summary. */
class PhoneSession implements OpenSession {
  readonly link: OpenSession["link"];
  readonly #options: OpenSessionOptions;
  readonly #choice: CallChoice;
  readonly #carrier: Carrier;
  readonly #media: SocketMedia;
  readonly #voice: MicrophoneVoice;
  readonly #owned = new DisposableStack();
  readonly #giveUp = new AbortController();
  #figures = emptyFigures;
  #dialledMs = 0;
  #shownMs = 0;
  #ownLagMs = 0;
  #call: PhoneCall | undefined;
  #earlyKeys = "";
  #finished = false;

  constructor(options: OpenSessionOptions, choice: CallChoice) {
    this.#options = options;
    this.#choice = choice;
    this.#carrier = createCarrier(
      { name: choice.carrier },
      createCallDetails(choice, options.server.callParameters),
    );
    const { uplink, downlink } = this.#carrier;
    this.#voice = createMicrophoneVoice(uplink);
    const rates = { captureRateHz: uplink.sampleRateHz, playbackRateHz: downlink.sampleRateHz };
    const media = new SocketMedia({ ...options, ...rates });
    media.setUserAudioCallback((pcm) => this.#voice.hear(new Int16Array(pcm)));
    media.onMicrophoneReplaced = (change) => this.#microphoneReplaced(change);
    this.#media = media;
    this.link = {
      media,
      resumePlayback() {},
      sample: async (atMs) => ({ atMs, bytesUp: this.#figures.bytesOut, bytesDown: this.#figures.bytesIn }),
    };
    forgetLastCall();
    this.#show();
    void this.#run();
  }

  setMuted(muted: boolean): void {
    this.#media.enableMic(!muted);
    if (muted) this.#voice.mute();
    this.#report({ type: muted ? "microphone-muted" : "microphone-unmuted" });
  }

  sendText(): void {}

  press(key: string): void {
    if (this.#call) this.#call.press(key);
    else this.#earlyKeys += key;
  }

  async end(): Promise<void> {
    this.#report({ type: "session-ending" });
    this.#giveUp.abort();
    if (!this.#call) return this.#finish({ type: "session-ended", by: "you" });
    this.#call.hangUp();
    await this.#call.ended;
  }

  async #run(): Promise<void> {
    const { server, useMicrophone, body } = this.#options;
    if (useMicrophone && !navigator.mediaDevices) return this.#fail(problem("microphone-insecure"));
    const isOpen = await this.#openMedia();
    if (!isOpen || this.#finished) return;
    if (useMicrophone) this.#report({ type: "step-reached", step: "start" });
    const { carrier } = this.#choice;
    const answer = await requestCall({ server, carrier, body, signal: this.#giveUp.signal });
    if (this.#finished) return;
    if ("problem" in answer) return this.#fail(answer.problem);
    this.#report({ type: "step-reached", step: "connect" });
    await this.#callBot(answer.address);
  }

  async #openMedia(): Promise<boolean> {
    const timer = setTimeout(() => this.#fail(problem("microphone-silent")), MICROPHONE_LIMIT_MS);
    try {
      await this.#media.initialize();
    } catch (error) {
      this.#fail(problemFromMicrophone(error));
      return false;
    } finally {
      clearTimeout(timer);
    }
    if (this.#finished) {
      await this.#media.disconnect(); // given up while the browser was asking
      return false;
    }
    const meters = () => ({ user: this.#media.userMeter, bot: this.#media.botMeter });
    const { history } = this.#options;
    this.#owned.use(watchVoices({ meters, history, report: (report) => this.#report(report) }));
    return true;
  }

  async #callBot(address: string): Promise<void> {
    this.#dialledMs = nowMs();
    try {
      this.#call = placeCall({
        carrier: this.#carrier,
        voice: this.#voice,
        surroundings: chosenSurroundings(this.#carrier.uplink.sampleRateHz),
        openSocket: () => openWebSocket(address),
        onEvent: (event) => this.#handle(event),
      });
    } catch (error) {
      // A page with HTTPS may not open a socket without.
      return this.#fail(problem("call-refused", error instanceof Error ? error.message : undefined));
    }
    if (this.#earlyKeys) this.#call.press(this.#earlyKeys);
    this.#shownMs = nowMs();
    const timer = setInterval(() => this.#show(), SHOW_EVERY_MS);
    this.#owned.defer(() => clearInterval(timer));
    const report = await this.#call.ended;
    this.#show();
    this.#keep(report);
    // The speaker is a moment behind the line; the bot's last word is still to come.
    if (isBotGone(report.outcome)) await this.#media.played(LAST_WORD_LIMIT_MS);
    await this.#finish(toEnding(report.outcome));
  }

  #handle(event: CallEvent): void {
    this.#figures = nextFigures(this.#figures, event, this.#carrier.downlink.sampleRateHz);
    switch (event.type) {
      case "call-connected":
        void this.#media.connect();
        return this.#report({ type: "call-connected" });
      case "audio-queued":
        return void this.#media.bufferBotAudio(event.samples);
      case "audio-cleared":
        this.#media.clearBotAudio();
        return this.#report({ type: "audio-cleared", droppedMs: event.droppedMs });
      case "message-sent":
      case "message-received": {
        const message = toLoggedMessage(event.text);
        return message && this.#report({ type: event.type, message });
      }
      case "mark-reached":
        return this.#report({ type: "mark-reached", name: event.name });
      case "digit-pressed":
        return this.#report({ type: "key-pressed", key: event.digit });
      case "violation-found":
        return this.#report({ type: "violation-found", ...event.violation });
      case "caller-speech-start":
        return this.#report({ type: "speech-start", who: "user" });
      case "bot-speech-start":
        return this.#report({ type: "speech-start", who: "bot" });
      case "caller-speech-end":
        return this.#report({ type: "speech-end", who: "user", atMs: nowMs() - PAUSE_MS });
      case "bot-speech-end":
        return this.#report({ type: "speech-end", who: "bot", atMs: nowMs() - PAUSE_MS });
      case "mark-received":
      case "call-ended":
        return undefined;
      default:
        return event satisfies never;
    }
  }

  #show(): void {
    const now = nowMs();
    if (this.#call) this.#ownLagMs = Math.max(this.#ownLagMs, now - this.#shownMs - SHOW_EVERY_MS);
    this.#shownMs = now;
    const ownLagMs = this.#ownLagMs;
    callFigures.set({ ...this.#figures, leadMs: leadMs(this.#figures, now - this.#dialledMs), ownLagMs });
  }

  /** The recording and figures of a call that was connected. */
  #keep({ outcome, summary, said, heard }: CallReport): void {
    if (outcome.type === "not-connected") return;
    const wav = new Blob([writeStereoWav({ left: said, right: heard })], { type: "audio/wav" });
    finishedCall.set({
      ...this.#choice,
      endedMs: Date.now(),
      summary,
      recording: {
        url: URL.createObjectURL(wav),
        durationMs: summary.durationMs,
        said: toBars(said.samples, BARS),
        heard: toBars(heard.samples, BARS),
      },
    });
    const isTimeUp = outcome.type === "hung-up" && outcome.by === "caller" && outcome.reason === "time-up";
    if (isTimeUp) this.#report({ type: "notice-raised", text: "Calls end after an hour." });
  }

  #microphoneReplaced({ lost, found }: { lost: boolean; found: boolean }): void {
    const name = this.#media.microphone.device?.label || "another microphone";
    if (!found) this.#report({ type: "notice-raised", text: "That microphone cannot be used." });
    else if (lost)
      this.#report({ type: "notice-raised", text: `The microphone was disconnected; now using ${name}.` });
  }

  #fail(found: Problem): void {
    void this.#finish({ type: "session-failed", problem: found });
  }

  async #finish(ending: ConnectionReport): Promise<void> {
    if (this.#finished) return;
    this.#finished = true;
    this.#owned.dispose();
    await this.#media.disconnect();
    restAudioContext();
    this.#options.report(ending);
  }

  /** Nothing is heard of a call after its end. */
  #report(report: ConnectionReport & { atMs?: number }): void {
    if (!this.#finished) this.#options.report(report);
  }
}

function chosenSurroundings(sampleRateHz: number): ((samples: number) => Int16Array) | undefined {
  const background = chosenBackground.get();
  if (background === "") return undefined;
  return createSurroundings({
    ...parseSurroundings(`${background}:${chosenBackgroundLevel.get()}dB`),
    sampleRateHz,
  });
}

function isBotGone(outcome: CallOutcome): boolean {
  return outcome.type === "hung-up" && outcome.by === "bot";
}

function forgetLastCall(): void {
  const last = finishedCall.get();
  if (last) URL.revokeObjectURL(last.recording.url);
  finishedCall.set(undefined);
}
