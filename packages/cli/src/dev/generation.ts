import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { childEnvironment } from "../config.ts";

/** One version of the bot's code, running in its own process. */
export interface Generation {
  readonly number: number;
  readonly socketPath: string;
  readonly isReady: boolean;
  readonly sessions: readonly LiveSession[];
  /** Resolves with the banner once the code serves, or with the reason why it ended before. */
  readonly started: Promise<Started>;
  readonly ended: Promise<void>;
  /** Keeps the process from being told to end while requests are under way. */
  hold(): Disposable;
  /** Lets the process end as soon as it has no sessions. */
  retire(): void;
  /** Shuts the process down. */
  end(): Promise<void>;
  /** Kills the process. */
  kill(): void;
}

export interface LiveSession {
  id: string;
  transport: string;
  state: "waiting" | "running";
  sinceMs: number;
}

export type Started = { isUp: true; banner: string } | (Broken & { isUp: false });

export interface Broken {
  exit: string;
  lastWords: string;
  /** The command line was wrong: no change to the code will help. */
  isMisused: boolean;
}

export interface GenerationOptions {
  number: number;
  file: string;
  flags: readonly string[];
  workingFolder: string;
  socketPath: string;
  onLine(line: string): void;
  onSessions(): void;
}

const END_MS = 15_000; // bots have five seconds, hanging up a phone call takes as long again
const OUTPUT_MS = 500; // processes the bot has started may keep the output open
const LAST_LINES = 40; // of the error output, shown when the code does not start
const MISUSED = 2; // the runner's exit code for flags it does not know

export function startGeneration(options: GenerationOptions): Generation {
  return new CodeProcess(options);
}

class CodeProcess implements Generation {
  readonly number: number;
  readonly socketPath: string;
  readonly started: Promise<Started>;
  readonly ended: Promise<void>;
  readonly #options: GenerationOptions;
  readonly #child: ChildProcess;
  readonly #started = Promise.withResolvers<Started>();
  readonly #lastLines: string[] = [];
  #sessions: LiveSession[] = [];
  #isReady = false;
  #isRetired = false;
  #holds = 0;

  constructor(options: GenerationOptions) {
    const { number, socketPath } = options;
    this.#options = options;
    this.number = number;
    this.socketPath = socketPath;
    this.started = this.#started.promise;
    this.#child = spawn(process.execPath, [...NODE_FLAGS, options.file, ...options.flags], {
      cwd: options.workingFolder,
      env: childEnvironment({ VOCALHOST_DEV_SOCKET: socketPath }, { VOCALHOST_VIVA_ENGINE: findEngine() }),
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: true, // this process passes a Ctrl-C in the terminal on
    });
    this.#readOutput();
    this.#child.on("message", (message: ChildMessage) => this.#take(message));
    this.ended = this.#follow();
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get sessions(): readonly LiveSession[] {
    return this.#sessions;
  }

  hold(): Disposable {
    this.#holds += 1;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#holds -= 1;
        this.#tellRetirement();
      },
    };
  }

  retire(): void {
    this.#isRetired = true;
    this.#tellRetirement();
  }

  async end(): Promise<void> {
    if (!this.#isReady) this.kill();
    else if (this.#child.connected) this.#child.disconnect(); // the child shuts down when its channel closes
    const timer = setTimeout(() => this.kill(), END_MS);
    await this.ended;
    clearTimeout(timer);
  }

  kill(): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      process.kill(-pid, "SIGKILL"); // and the processes the bot has started
    } catch {
      this.#child.kill("SIGKILL");
    }
  }

  #readOutput(): void {
    const { stdout, stderr } = this.#child;
    for (const stream of [stdout, stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on("line", (line) => {
        if (stream === stderr && this.#lastLines.push(line) > LAST_LINES) this.#lastLines.shift();
        this.#options.onLine(line);
      });
    }
  }

  #take(message: ChildMessage): void {
    switch (message.type) {
      case "ready":
        this.#isReady = true;
        return this.#started.resolve({ isUp: true, banner: message.banner });
      case "misused":
        return void this.#lastLines.push(message.message);
      case "sessions": {
        const before = new Map(this.#sessions.map(({ id, sinceMs }) => [id, sinceMs]));
        this.#sessions = message.sessions.map((session) => ({
          ...session,
          sinceMs: before.get(session.id) ?? Date.now(),
        }));
        return this.#options.onSessions();
      }
      default:
        return message satisfies never;
    }
  }

  async #follow(): Promise<void> {
    const { stdout, stderr } = this.#child;
    // Not "close": it does not come after a disconnect.
    const [code, signal] = (await once(this.#child, "exit").catch((error: unknown) => [
      null,
      String(error),
    ])) as [number | null, string | null];
    this.#isReady = false;
    await Promise.race([
      Promise.all([finished(stdout), finished(stderr)]),
      pause(OUTPUT_MS, undefined, { ref: false }),
    ]);
    this.#sessions = [];
    const exit = code === null ? `ended by ${String(signal)}` : `ended with exit code ${String(code)}`;
    const lastWords = this.#lastLines.join("\n");
    this.#started.resolve({ isUp: false, exit, lastWords, isMisused: code === MISUSED });
    this.#options.onSessions();
  }

  #tellRetirement(): void {
    if (this.#isRetired && this.#holds === 0 && this.#child.connected)
      this.#child.send({ type: "retire" }, () => undefined);
  }
}

async function finished(stream: Readable | null): Promise<void> {
  if (stream && !stream.closed) await once(stream, "close").catch(() => undefined);
}

// If this file runs from source, the packages that bots import do too.
const NODE_FLAGS = import.meta.filename.endsWith(".ts") ? ["--conditions=@vocalhost/source"] : [];

type ChildMessage =
  | { type: "ready"; banner: string }
  | { type: "misused"; message: string }
  | { type: "sessions"; sessions: Omit<LiveSession, "sinceMs">[] };

/** The voice filter's engine, if the service is installed beside this command. */
function findEngine(): string | undefined {
  try {
    const service = createRequire(import.meta.url).resolve("@vocalhost/control-plane/package.json");
    return createRequire(service).resolve("@vocalhost/viva");
  } catch {
    return undefined;
  }
}
