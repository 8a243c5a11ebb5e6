import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { childEnvironment } from "../config.ts";
import { createRequire } from "node:module";

/** The bot's code as it was at one moment, running in a process of its own. */
export interface Generation {
  readonly number: number;
  readonly socketPath: string;
  readonly isReady: boolean;
  readonly sessions: readonly LiveSession[];
  /** Whether it came up; with what it said to developers. */
  readonly started: Promise<Started>;
  readonly ended: Promise<void>;
  /** While held it is not told to end; for requests under way. */
  hold(): Disposable;
  /** Lets it end as soon as it has no sessions. */
  retire(): void;
  /** Ends it in order. */
  end(): Promise<void>;
  /** Ends it at once. */
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
  /** The command line was wrong: no change of the code will help. */
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
const OUTPUT_MS = 500; // what it has started may keep the output open
const LAST_WORDS_LINES = 40;
const MISUSED = 2; // what the runner ends with when it does not understand its flags

export function startGeneration(options: GenerationOptions): Generation {
  const { number, socketPath } = options;
  const child = spawn(process.execPath, [...NODE_FLAGS, options.file, ...options.flags], {
    cwd: options.workingFolder,
    env: childEnvironment({ VOCALHOST_DEV_SOCKET: socketPath }, { VOCALHOST_VIVA_ENGINE: findEngine() }),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: true, // a Ctrl-C in the terminal is ours to pass on
  });
  const started = Promise.withResolvers<Started>();
  const lastWords: string[] = [];
  let sessions: LiveSession[] = [];
  let isReady = false;
  let isRetired = false;
  let holds = 0;

  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on("line", (line) => {
      if (stream === child.stderr && lastWords.push(line) > LAST_WORDS_LINES) lastWords.shift();
      options.onLine(line);
    });
  }
  child.on("message", (message: ChildMessage) => {
    if (message.type === "ready") {
      isReady = true;
      started.resolve({ isUp: true, banner: message.banner });
    } else if (message.type === "misused") {
      lastWords.push(message.message);
    } else if (message.type === "sessions") {
      const before = new Map(sessions.map((session) => [session.id, session.sinceMs]));
      sessions = message.sessions.map((session) => ({
        ...session,
        sinceMs: before.get(session.id) ?? Date.now(),
      }));
      options.onSessions();
    }
  });
  // Not "close": it does not come after a disconnect.
  const exited = once(child, "exit").catch((error: unknown) => [null, String(error)]);
  const ended = exited.then(async ([code, signal]) => {
    isReady = false;
    await Promise.race([
      Promise.all([finished(child.stdout), finished(child.stderr)]),
      pause(OUTPUT_MS, undefined, { ref: false }),
    ]);
    sessions = [];
    const exit = code === null ? `ended by ${String(signal)}` : `ended with exit code ${String(code)}`;
    const isMisused = code === MISUSED;
    started.resolve({ isUp: false, exit, lastWords: lastWords.join("\n"), isMisused });
    options.onSessions();
  });

  function tellRetirement(): void {
    if (isRetired && holds === 0 && child.connected) child.send({ type: "retire" }, () => undefined);
  }

  function kill(): void {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(-child.pid, "SIGKILL"); // and what the bot has started
    } catch {
      child.kill("SIGKILL");
    }
  }

  return {
    number,
    socketPath,
    get isReady() {
      return isReady;
    },
    get sessions() {
      return sessions;
    },
    started: started.promise,
    ended,
    hold() {
      holds += 1;
      let isHeld = true;
      return {
        [Symbol.dispose]() {
          if (!isHeld) return;
          isHeld = false;
          holds -= 1;
          tellRetirement();
        },
      };
    },
    retire() {
      isRetired = true;
      tellRetirement();
    },
    async end() {
      if (!isReady) kill();
      else if (child.connected) child.disconnect(); // it ends in order when it loses us
      const timer = setTimeout(kill, END_MS);
      await ended;
      clearTimeout(timer);
    },
    kill,
  };
}

async function finished(stream: Readable | null): Promise<void> {
  if (stream && !stream.closed) await once(stream, "close").catch(() => undefined);
}

// Where this is a source file the packages of bots are sources too.
const NODE_FLAGS = import.meta.filename.endsWith(".ts") ? ["--conditions=@vocalhost/source"] : [];

type ChildMessage =
  | { type: "ready"; banner: string }
  | { type: "misused"; message: string }
  | { type: "sessions"; sessions: Omit<LiveSession, "sinceMs">[] };

/** The voice filter's engine, which the service installed alongside this command brings. */
function findEngine(): string | undefined {
  try {
    const service = createRequire(import.meta.url).resolve("@vocalhost/control-plane/package.json");
    return createRequire(service).resolve("@vocalhost/viva");
  } catch {
    return undefined;
  }
}
