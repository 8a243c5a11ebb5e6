// The pacing thread: when what leaves over WebSockets leaves, away from whatever the bot does.
import { parentPort } from "node:worker_threads";
import type { LineCommand, LineEvent } from "./messages.ts";
import { createPacedLine, type PacedLine } from "./paced-line.ts";

const port = parentPort;
if (!port) throw new Error("pacing-worker.ts runs as a worker thread only");
const lines = new Map<number, PacedLine>();
let outbox: LineEvent[] = [];

port.on("message", (commands: LineCommand[]) => {
  for (const command of commands) {
    try {
      execute(command);
    } catch (error) {
      emit({ type: "failed", line: command.line, error: String(error) });
    }
  }
});

function execute(command: LineCommand): void {
  const { line: id } = command;
  if (command.type === "open") {
    lines.set(id, createPacedLine({ line: id, fd: command.fd, settings: command.settings, emit }));
    return undefined;
  }
  const line = lines.get(id);
  if (!line) return undefined;
  switch (command.type) {
    case "audio":
      return line.play(command.samples);
    case "clear":
      return line.clear(command.era);
    case "pause":
      return line.pause(command.paused);
    case "rewind":
      return line.rewind(command.era, command.playedSamples);
    case "bytes":
      return line.write(command.bytes);
    case "finish":
      return line.finish();
    case "release":
      lines.delete(id);
      return line.release();
    default:
      return command satisfies never;
  }
}

// Everything that happens in one turn of the loop crosses to the main thread together.
function emit(event: LineEvent): void {
  if (outbox.length === 0) setImmediate(flush);
  outbox.push(event);
}

function flush(): void {
  const events = outbox;
  outbox = [];
  port?.postMessage(events);
}
