import {
  LogLevel,
  PipecatClient,
  type APIRequest,
  type PipecatClientOptions,
  type RTVIMessage,
} from "@pipecat-ai/client-js";
import type { ConnectionReport, ConnectStep } from "../events/connection-event.ts";
import { problem, problemFromMicrophone, type Problem } from "../events/problem.ts";
import { restAudioContext } from "../media/audio-context.ts";
import { watchVoices } from "../voice/watch-voices.ts";
import type { FilterAddress } from "./filter-remote.ts";
import type { Link } from "./link.ts";
import type { OpenSession, OpenSessionOptions } from "./open-session.ts";
import {
  problemFromConnect,
  problemFromFatal,
  problemFromStart,
  problemFromTimeout,
} from "./session-problem.ts";

export interface SessionOptions extends OpenSessionOptions {
  link: Link;
}

const STEP_LIMIT_MS: Record<ConnectStep, number> = {
  microphone: 60_000, // a person has to answer a question
  start: 30_000, // a cold start of a hosted bot
  connect: 20_000,
  bot: 20_000,
};
const CLOSE_LIMIT_MS = 2_000; // an ended session must not hang on a dead network

/** One conversation with a bot, from the start request to its end. */
export class Session implements OpenSession {
  readonly link: Link;
  filterAt: FilterAddress | undefined;
  readonly #options: SessionOptions;
  readonly #client: ObservedClient;
  readonly #owned: Disposable[] = []; // not every visitor's browser has a DisposableStack
  #step: ConnectStep = "start";
  #stepTimer: ReturnType<typeof setTimeout> | undefined;
  #refusal: unknown;
  #ready = false;
  #finished = false;

  constructor(options: SessionOptions) {
    this.link = options.link;
    this.#options = options;
    this.#client = this.#createClient();
    this.#client.setLogLevel(LogLevel.WARN);
    options.link.media.onMicrophoneReplaced = (change) => this.#microphoneReplaced(change);
    void this.#run();
  }

  setMuted(muted: boolean): void {
    if (this.#client.connected) this.#client.enableMic(!muted);
    else this.link.media.enableMic(!muted);
    this.#report({ type: muted ? "microphone-muted" : "microphone-unmuted" });
  }

  sendText(text: string): void {
    const message = { type: "send-text", data: { content: text } };
    this.#report({ type: "message-sent", message });
    try {
      // It throws when the link has just gone; that end is reported on its own.
      this.#client.sendText(text).catch(() => {});
    } catch {}
  }

  async end(): Promise<void> {
    this.#report({ type: "session-ending" });
    await this.#finish({ type: "session-ended", by: "you" });
  }

  async #run(): Promise<void> {
    const { link, server, useMicrophone, body } = this.#options;
    if (useMicrophone && !navigator.mediaDevices) return this.#fail(problem("microphone-insecure"));
    this.#enter(useMicrophone ? "microphone" : "start");
    try {
      await this.#client.initDevices();
    } catch (error) {
      return this.#fail(problemFromMicrophone(error));
    }
    if (this.#finished) return;
    this.#watchVoices();
    if (useMicrophone) this.#reach("start");
    const input = { ...link.startRequest, ...server.startRequest };
    const request = { ...input, ...(body === undefined ? {} : { body }) };
    const requestData = request as APIRequest["requestData"];
    let answer: unknown;
    try {
      // The two halves of startBotAndConnect(), so that giving up in between is noticed.
      answer =
        server.takeStarted?.(link.startRequest["transport"]) ??
        (await this.#client.startBot({
          endpoint: server.startUrl,
          requestData,
          headers: new Headers(server.startHeaders),
        }));
    } catch (error) {
      const runnerAnswers = await server.isThere();
      return this.#fail(problemFromStart({ error, refusal: this.#refusal, runnerAnswers }));
    }
    if (this.#finished) return;
    this.filterAt = server.filterAt(answer);
    const sessionId = sessionIdIn(answer);
    if (sessionId) this.#report({ type: "session-known", sessionId });
    this.#reach("connect");
    try {
      await this.#client.connect(link.toConnectParams(answer, server));
    } catch (error) {
      this.#fail(problemFromConnect(error, link.failure));
    }
  }

  #createClient(): ObservedClient {
    const { link, useMicrophone } = this.#options;
    const callbacks = {
      onConnected: () => this.#reach("bot"),
      onBotReady: (data: { version: string; about?: unknown }) => this.#becomeReady(data),
      onBotDisconnected: () => this.#botLeft(),
      onDisconnected: () => {
        if (this.#step !== "start") this.#fail(problem("connection-lost")); // a refused start says so itself
      },
      onTrackStarted: (track: MediaStreamTrack, participant?: { local: boolean }) => {
        if (!participant?.local && track.kind === "audio") link.playBot(track);
      },
      onError: (message: RTVIMessage) => this.#handleError(message),
    };
    return new ObservedClient(
      { transport: link.transport, enableMic: useMicrophone, callbacks },
      (message) => {
        this.#report({ type: "message-received", message });
        link.handleMessage(message);
      },
    );
  }

  #becomeReady({ version, about }: { version: string; about?: unknown }): void {
    if (this.#ready || this.#finished) return;
    this.#ready = true;
    clearTimeout(this.#stepTimer);
    this.#report({ type: "bot-ready", version, ...libraryOf(about) });
    this.#owned.push(
      watchLink({
        link: this.link,
        report: (report) => this.#report(report),
        onLost: () => this.#fail(problem("connection-lost")),
        onHungUp: () => this.#botLeft(),
      }),
    );
  }

  #watchVoices(): void {
    const { media } = this.link;
    const { history } = this.#options;
    const meters = () => ({ user: media.userMeter, bot: media.botMeter });
    this.#owned.push(watchVoices({ meters, history, report: (report) => this.#report(report) }));
  }

  #handleError(message: RTVIMessage): void {
    const data = (message.data ?? {}) as { error?: unknown; message?: unknown; fatal?: boolean };
    this.#refusal = data.error ?? data.message;
    if (!data.fatal || this.#step === "start") return; // a refused start rejects by itself
    const found = problemFromFatal(this.#refusal);
    if (found) this.#fail(found);
    else this.#botLeft();
  }

  #botLeft(): void {
    if (this.#ready) void this.#finish({ type: "session-ended", by: "bot" });
    else this.#fail(problem("bot-left-early"));
  }

  #microphoneReplaced({ lost, found }: { lost: boolean; found: boolean }): void {
    const name = this.link.media.microphone.device?.label || "another microphone";
    if (!found) this.#report({ type: "notice-raised", text: "That microphone cannot be used." });
    else if (lost)
      this.#report({ type: "notice-raised", text: `The microphone was disconnected; now using ${name}.` });
    void this.link.sendMicrophone();
  }

  #reach(step: ConnectStep): void {
    if (this.#finished || this.#ready) return;
    this.#enter(step);
    this.#report({ type: "step-reached", step });
  }

  #enter(step: ConnectStep): void {
    this.#step = step;
    clearTimeout(this.#stepTimer);
    const giveUp = () => this.#fail(problemFromTimeout(step, this.link.failure));
    this.#stepTimer = setTimeout(giveUp, STEP_LIMIT_MS[step]);
  }

  #fail(found: Problem): void {
    void this.#finish({ type: "session-failed", problem: found });
  }

  async #finish(ending: ConnectionReport): Promise<void> {
    if (this.#finished) return;
    this.#finished = true;
    clearTimeout(this.#stepTimer);
    for (const owned of this.#owned.splice(0).reverse()) owned[Symbol.dispose]();
    const limit = new Promise((resolve) => setTimeout(resolve, CLOSE_LIMIT_MS));
    const closed = this.#client.disconnect().catch(() => {});
    await Promise.race([closed, limit]);
    this.link.abandon();
    // A transport that never connected does not let go of the microphone.
    await this.link.media.disconnect();
    restAudioContext();
    this.#options.report(ending);
  }

  /** Nothing is heard of a session after its end. */
  #report(report: ConnectionReport & { atMs?: number }): void {
    if (!this.#finished) this.#options.report(report);
  }
}

function sessionIdIn(answer: unknown): string | undefined {
  const { sessionId } = (answer ?? {}) as { sessionId?: unknown };
  return typeof sessionId === "string" && sessionId !== "" ? sessionId : undefined;
}

function libraryOf(about: unknown): { library?: string } {
  if (typeof about !== "object" || about === null || !("library" in about)) return {};
  const version = "library_version" in about ? ` ${String(about.library_version)}` : "";
  return { library: `${String(about.library)}${version}` };
}

/** The client, which also passes on every message it receives, including those without a callback. */
class ObservedClient extends PipecatClient {
  onMessage: ((message: RTVIMessage) => void) | undefined;

  constructor(options: PipecatClientOptions, onMessage: (message: RTVIMessage) => void) {
    super(options);
    this.onMessage = onMessage;
  }

  protected override handleMessage(message: RTVIMessage): void {
    this.onMessage?.(message);
    super.handleMessage(message);
  }
}

const LOOK_EVERY_MS = 500;
const LOST_AFTER_MS = 30_000; // by then the other side has given the session up too

/** Reports when the network goes away and comes back, when to stop hoping, and a silent hang-up. */
function watchLink(options: {
  link: Link;
  report: (report: ConnectionReport) => void;
  onLost: () => void;
  onHungUp: () => void;
}): Disposable {
  const { link, report, onLost, onHungUp } = options;
  let hungUp = false;
  let interruptedSinceMs: number | undefined;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    // Seen twice, so that a good-bye on its way comes first.
    if (hungUp && link.isHungUp()) return onHungUp();
    hungUp = link.isHungUp();
    link.followBot();
    if (!link.isInterrupted()) {
      if (interruptedSinceMs !== undefined) report({ type: "link-restored" });
      interruptedSinceMs = undefined;
    } else if (interruptedSinceMs === undefined) {
      interruptedSinceMs = nowMs;
      report({ type: "link-interrupted" });
    } else if (nowMs - interruptedSinceMs > LOST_AFTER_MS) {
      onLost();
    }
    return undefined;
  }, LOOK_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
