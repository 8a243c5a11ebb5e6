import { createStore, type Store } from "../store.ts";
import { sharedAudioContext } from "../media/audio-context.ts";
import { VoiceHistory } from "../voice/voice-history.ts";
import type { BotServer } from "./bot-server.ts";
import type { ConnectionEvent, ConnectionReport } from "../events/connection-event.ts";
import { nowMs } from "../now.ts";
import type { CallChoice, OpenSession, TransportChoice } from "./open-session.ts";
import { isOpen, nextPhase, type Phase } from "../events/phase.ts";
import { problem } from "../events/problem.ts";

export interface ConnectOptions {
  transport: TransportChoice;
  useMicrophone: boolean;
  microphoneId: string | undefined;
  speakerId: string | undefined;
  body: unknown;
  call: CallChoice | undefined;
}

/** The page's line to a bot: one session at a time, any number one after the other. */
export class Connection {
  readonly history = new VoiceHistory();
  readonly phase: Store<Phase>;
  readonly muted: Store<boolean>;
  readonly playbackBlocked = createStore(false);
  readonly #server: BotServer;
  readonly #folds: ((event: ConnectionEvent) => void)[] = [];
  #session: OpenSession | undefined;
  #attempt = 0;

  constructor(server: BotServer) {
    this.#server = server;
    this.phase = this.fold<Phase>(nextPhase, { name: "idle" });
    this.muted = this.fold(nextMuted, false);
  }

  /** The session in progress; its meters and counters feed the visuals. */
  get session(): OpenSession | undefined {
    return this.#session;
  }

  /** A view of the connection, kept up to date with every event. */
  fold<T>(next: (value: T, event: ConnectionEvent) => T, initial: T): Store<T> {
    const store = createStore(initial);
    this.#folds.push((event) => store.set(next(store.get(), event)));
    return store;
  }

  /** Fetches what the first connection would have to wait for. */
  async prepare(transport: TransportChoice): Promise<void> {
    await transport.load().catch(() => {}); // said when it matters
  }

  async connect(options: ConnectOptions): Promise<void> {
    if (isOpen(this.phase.get())) return;
    const attempt = ++this.#attempt;
    const { transport, useMicrophone } = options;
    sharedAudioContext(); // sound may start only with the user's click
    this.playbackBlocked.set(false);
    this.#report({ type: "session-requested", transport: transport.name, microphone: useMicrophone });
    try {
      const openSession = await transport.load();
      if (attempt !== this.#attempt) return;
      this.#session = openSession({
        ...options,
        server: this.#server,
        history: this.history,
        report: (report) => this.#report(report),
        onPlaybackBlocked: () => this.playbackBlocked.set(true),
      });
    } catch {
      // The code of a transport comes from the server, which may be gone or have a newer page.
      const code = (await this.#server.isThere()) ? "page-outdated" : "runner-unreachable";
      this.#report({ type: "session-failed", problem: problem(code) });
    }
  }

  async end(): Promise<void> {
    this.#attempt++;
    if (this.#session) return this.#session.end();
    if (isOpen(this.phase.get())) this.#report({ type: "session-ended", by: "you" });
  }

  setMuted(muted: boolean): void {
    this.#session?.setMuted(muted);
  }

  sendText(text: string): void {
    this.#session?.sendText(text);
  }

  press(key: string): void {
    this.#session?.press?.(key);
  }

  chooseMicrophone(microphoneId: string): void {
    void this.#session?.link.media.updateMic(microphoneId);
  }

  chooseSpeaker(speakerId: string): void {
    this.#session?.link.media.updateSpeaker(speakerId);
  }

  /** The runner answers again. */
  runnerFound(): void {
    if (this.phase.get().name === "failed") this.#report({ type: "runner-found" });
  }

  allowPlayback(): void {
    this.playbackBlocked.set(false);
    this.#session?.link.resumePlayback();
  }

  #report(report: ConnectionReport & { atMs?: number }): void {
    if (report.type === "session-ended" || report.type === "session-failed") {
      this.#session = undefined;
    }
    const event: ConnectionEvent = { ...report, atMs: report.atMs ?? nowMs() };
    for (const fold of this.#folds) fold(event);
  }
}

function nextMuted(muted: boolean, event: ConnectionEvent): boolean {
  switch (event.type) {
    case "microphone-muted":
      return true;
    case "microphone-unmuted":
    case "session-requested":
      return false;
    default:
      return muted;
  }
}
