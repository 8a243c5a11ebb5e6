// The media process: every connection of every room. A process, because the library serves one thread of a process
// only, and the program around us may use it too; and because what goes wrong in native code ends the process.
import { createMediaServer, type MediaServer } from "./media-server.ts";
import type { MediaCommand, MediaEvent, MediaReply, MediaRequest } from "./messages.ts";

let server: MediaServer | undefined;
let outbox: MediaEvent[] = [];

process.on("message", (request: MediaRequest) => {
  if (request.type === "start") start(request);
  else if (request.type === "commands") for (const command of request.commands) execute(command);
  else end();
});
process.on("disconnect", end); // the room server is gone
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined); // the parent process ends this one

function start({ settings }: Extract<MediaRequest, { type: "start" }>): void {
  try {
    server = createMediaServer(settings, emit);
    process.on("uncaughtException", problem); // of a timer; the other rooms go on
    reply({ type: "started" });
  } catch (error) {
    reply({ type: "failed", reason: error instanceof Error ? error.message : String(error) });
  }
}

function execute(command: MediaCommand): void {
  try {
    server?.execute(command);
  } catch (error) {
    problem(error);
  }
}

function problem(error: unknown): void {
  emit({ type: "problem", error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

// Everything that happens in one turn of the loop crosses together.
function emit(event: MediaEvent): void {
  if (outbox.length === 0) setImmediate(flush);
  outbox.push(event);
}

function flush(): void {
  const events = outbox;
  outbox = [];
  reply({ type: "events", events });
}

function reply(message: MediaReply): void {
  if (process.connected) process.send?.(message);
}

function end(): void {
  server?.[Symbol.dispose]();
  process.exit(0); // by itself the library would keep the process
}
