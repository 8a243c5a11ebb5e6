import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import type { Log } from "../log.ts";
import type { MediaCommand, MediaEvent, MediaReply, MediaRequest, MediaSettings } from "./messages.ts";

/** The rooms' side of the media process. */
export interface MediaHost extends AsyncDisposable {
  send(command: MediaCommand): void;
}

interface MediaHostOptions {
  /** Asked for before every start. */
  settings(): Promise<MediaSettings>;
  log: Log;
  receive(event: MediaEvent): void;
  /** The process is gone and with it every connection; another is on its way. */
  lost(): void;
}

const START_MS = 15_000;
const START_AGAIN_MS = 1_000;
const SHUT_DOWN_MS = 3_000;

/** Rejects when the process cannot start, above all because its UDP port is taken. */
export async function startMediaHost(options: MediaHostOptions): Promise<MediaHost> {
  const { log } = options;
  let disposed = false;
  let outbox: MediaCommand[] = [];
  let child = await startProcess(options);
  watch(child);

  function watch(started: ChildProcess): void {
    started.on("message", (reply: MediaReply) => {
      if (reply.type !== "events" || disposed) return;
      for (const event of reply.events) {
        if (event.type === "problem") log.warn({ reason: event.error }, "media process met an error");
        else options.receive(event);
      }
    });
    started.once("exit", (code, signal) => {
      if (disposed) return;
      log.error({ code, signal }, "media process ended");
      options.lost();
      startAgain();
    });
  }

  function startAgain(): void {
    startProcess(options).then(
      (started) => {
        child = started;
        if (disposed) return post(child, { type: "end" });
        watch(child);
        return flush();
      },
      (error: unknown) => {
        log.error({ err: error }, "media process does not start");
        if (!disposed) setTimeout(startAgain, START_AGAIN_MS);
      },
    );
  }

  function flush(): void {
    if (!child.connected) return; // kept for the next process
    const commands = outbox;
    outbox = [];
    if (!disposed) post(child, { type: "commands", commands });
  }

  return {
    send(command) {
      if (outbox.length === 0 || !child.connected) setImmediate(flush);
      outbox.push(command);
    },
    async [Symbol.asyncDispose]() {
      if (disposed) return;
      disposed = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      const timer = setTimeout(() => child.kill("SIGKILL"), SHUT_DOWN_MS);
      post(child, { type: "end" });
      await ended;
      clearTimeout(timer);
    },
  };
}

async function startProcess(options: MediaHostOptions): Promise<ChildProcess> {
  const settings = await options.settings();
  const child = fork(ownProgram("media/media-main"), [], {
    serialization: "advanced",
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  child.on("error", () => undefined); // told by its exit, too
  try {
    post(child, { type: "start", settings });
    const [reply] = (await once(child, "message", { signal: AbortSignal.timeout(START_MS) })) as [MediaReply];
    if (reply.type === "failed") throw new Error(`No media on UDP port ${settings.udpPort}: ${reply.reason}`);
    return child;
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

function post(child: ChildProcess, request: MediaRequest): void {
  if (child.connected) child.send(request, () => undefined); // that it has ended is told by its exit
}

/** The folder of this package, whether this file is a source file or part of a bundle. */
const packageFolder = dirname(findPackageJSON(import.meta.url) ?? import.meta.dirname);

const isSource = import.meta.filename.endsWith(".ts");

/** A program or worker of this package, by its path among the sources, without the extension. */
function ownProgram(path: string): string {
  return join(packageFolder, isSource ? `src/${path}.ts` : `dist/${path}.js`);
}
