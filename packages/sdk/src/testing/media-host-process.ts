// The media of a runner in a process of its own, so that a test survives its crash.
import type { IceCandidate } from "@vocalhost/protocol";
import { startMediaHost, type MediaPort } from "../media/media-host.ts";
import { createCollectedLog } from "./collected-log.ts";

/** Commands of the parent, for one connection. */
export type HostCommand = { connection: number } & (
  | { type: "offer"; request: number; sdp: string; rebuild: boolean }
  | { type: "candidates"; candidates: IceCandidate[] }
  | { type: "attach" }
  | { type: "speak" }
  | { type: "send"; text: string }
  | { type: "close"; sayGoodbye: boolean }
);

export interface HostReply {
  request: number;
  answer?: string;
  refusal?: string;
}

const RATES = { inputHz: 16_000, outputHz: 24_000, maxQueuedMs: 2_000 };

const media = startMediaHost({ log: createCollectedLog().log, iceServers: () => [] });
const ports = new Map<number, MediaPort>();

process.on("message", (command: HostCommand) => {
  const port = ports.get(command.connection) ?? media.open(() => undefined);
  ports.set(command.connection, port);
  switch (command.type) {
    case "offer":
      return void port.offer(command.sdp, command.rebuild).then(
        (answer) => reply({ request: command.request, answer }),
        (error: unknown) => reply({ request: command.request, refusal: String(error) }),
      );
    case "candidates":
      return port.addCandidates(command.candidates);
    case "attach":
      return port.attach(RATES);
    case "speak":
      return port.play(new Int16Array(RATES.outputHz / 10));
    case "send":
      return port.send(command.text);
    case "close":
      return port.close(command.sayGoodbye);
    default:
      return command satisfies never;
  }
});
process.on("disconnect", () => void media[Symbol.asyncDispose]());

function reply(message: HostReply): void {
  if (process.connected) process.send?.(message, () => undefined);
}
