// The pacing thread: it times the audio of WebSockets, unaffected by a busy bot.
import { parentPort } from "node:worker_threads";
import { createTimerWheel } from "./timer-wheel.ts";
import { createOutbox } from "../outbox.ts";
import type { LineCommand, LineEvent } from "./messages.ts";
import { createPacedLine, type PacedLine } from "./paced-line.ts";

const port = parentPort;
if (!port) throw new Error("pacing-worker.ts runs as a worker thread only");
const lines = new Map<number, PacedLine>();
const wheel = createTimerWheel({ stepMs: 10 }); // clients buffer several times as much
const outbox = createOutbox<LineEvent>({ batchMs: 10, send: (events) => port.postMessage(events) });

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
    lines.set(id, createPacedLine({ line: id, fd: command.fd, settings: command.settings, wheel, emit }));
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

function emit(event: LineEvent): void {
  outbox.post(event, event.type === "progress");
}
