import { Worker } from "node:worker_threads";
import { createOutbox } from "../outbox.ts";
import type { LineCommand, LineEvent, VoiceSettings } from "./messages.ts";
import { ownProgram } from "../own-files.ts";

/** One WebSocket, as the main thread sees it. */
export interface Line {
  post(command: LineOrder): void;
  /** Resolves when everything is on the wire. */
  finish(): Promise<void>;
  /** Resolves when the pacing thread has released the socket; call it last. */
  release(): Promise<void>;
}

type Without<Command, Key extends PropertyKey> = Command extends unknown ? Omit<Command, Key> : never;
export type LineOrder = Without<Exclude<LineCommand, { type: "open" | "finish" | "release" }>, "line">;
export type LineNews = Exclude<LineEvent, { type: "finished" | "released" }>;

const BATCH_MS = 10; // audio of many calls crosses together; the pacing thread buffers more than this

// Sent audio is garbage at once, yet its memory is outside the heap until a collection, which a large young
// generation delays.
const YOUNG_MB = 24;

let thread: PacingThread | undefined;

/** Starts the thread that all sockets of the process share, before the first socket needs it. */
export function preparePacing(): void {
  thread ??= startThread(() => (thread = undefined));
}

export function openLine(fd: number, settings: VoiceSettings, tell: (news: LineNews) => void): Line {
  preparePacing();
  return thread!.open(fd, settings, tell);
}

interface PacingThread {
  open(fd: number, settings: VoiceSettings, tell: (news: LineNews) => void): Line;
}

interface OpenLine {
  tell(news: LineNews): void;
  waiting: Record<"finished" | "released", (() => void)[]>;
}

function startThread(ended: () => void): PacingThread {
  const worker = new Worker(ownProgram("pacing/pacing-worker"), {
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  const lines = new Map<number, OpenLine>();
  const outbox = createOutbox<LineCommand>({
    batchMs: BATCH_MS,
    send: (commands) => worker.postMessage(commands),
  });
  let lastLine = 0;
  let isOver = false;

  worker.on("message", (events: LineEvent[]) => {
    for (const event of events) {
      const line = lines.get(event.line);
      if (event.type === "finished" || event.type === "released")
        for (const done of line?.waiting[event.type].splice(0) ?? []) done();
      else line?.tell(event);
    }
  });
  worker.on("error", (error) => end(error.message));
  worker.on("exit", () => end("The pacing thread ended"));
  worker.unref(); // open sockets keep the process alive; the idle thread does not

  function end(why: string): void {
    if (isOver) return;
    isOver = true;
    ended(); // the next socket starts another
    for (const [id, line] of lines) {
      line.tell({ type: "failed", line: id, error: why });
      for (const done of [...line.waiting.finished.splice(0), ...line.waiting.released.splice(0)]) done();
    }
    lines.clear();
  }

  function post(command: LineCommand): void {
    if (!isOver) outbox.post(command, command.type === "audio");
  }

  function ask(line: number, question: "finish" | "release"): Promise<void> {
    const open = lines.get(line);
    if (!open || isOver) return Promise.resolve();
    return new Promise((resolve) => {
      open.waiting[question === "finish" ? "finished" : "released"].push(resolve);
      post({ type: question, line });
    });
  }

  return {
    open(fd, settings, tell) {
      lastLine += 1;
      const line = lastLine;
      lines.set(line, { tell, waiting: { finished: [], released: [] } });
      worker.ref();
      post({ type: "open", line, fd, settings });
      return {
        post: (order) => post({ ...order, line }),
        finish: () => ask(line, "finish"),
        async release() {
          await ask(line, "release");
          lines.delete(line);
          if (lines.size === 0) worker.unref();
        },
      };
    },
  };
}
