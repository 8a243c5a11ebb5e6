// The media thread: peer connections, Opus and pacing, unaffected by a busy bot.
import type { IceServer } from "@vocalhost/protocol";
import { endNative } from "@vocalhost/rooms/native";
import { performance } from "node:perf_hooks";
import { parentPort, workerData } from "node:worker_threads";
import { createTimerWheel } from "../pacing/timer-wheel.ts";
import { createOutbox } from "../outbox.ts";
import { createMediaConnection, type MediaConnection } from "./media-connection.ts";
import type { MediaCommand, MediaEffort, MediaEvent, MediaProblem, MediaWorkerData } from "./messages.ts";
import { parseOffer } from "./offer.ts";
import { createOpusEffort, OBSERVE_EVERY_MS } from "./opus-effort.ts";
import { createSharedPort } from "./shared-port.ts";
import { messageOf } from "../message-of.ts";

const port = parentPort;
if (!port) throw new Error("media-worker.ts runs as a worker thread only");
const settings = workerData as MediaWorkerData;
const connections = new Map<number, MediaConnection>();
const GOODBYES_MS = 200; // time for close messages before the thread ends
const sharedPort = createSharedPort(settings.reach.port);
const effort = createOpusEffort(settings.opusComplexity);
const wheel = createTimerWheel({ stepMs: 5 }); // a quarter of a packet, so that connections do not all encode at once
let newestId = 0;
const BATCH_MS = 5; // audio of many callers crosses to the bots together
const outbox = createOutbox<MediaEvent>({ batchMs: BATCH_MS, send: (events) => port.postMessage(events) });

port.on("message", (message: MediaCommand[] | "shut-down") => {
  if (message === "shut-down") return shutDown();
  for (const command of message) {
    try {
      execute(command);
    } catch (error) {
      report(error);
    }
  }
});

function execute(command: MediaCommand): void {
  if (command.type === "offer") {
    const { connection: id, request, sdp, rebuild, iceServers } = command;
    const connection = connections.get(id) ?? openNew(id, request, iceServers);
    if (connection) void connection.offer(request, parseOffer(sdp), rebuild).catch(report);
    return;
  }
  const connection = connections.get(command.connection);
  if (!connection) return; // the connection ended while the command was on its way
  switch (command.type) {
    case "audio":
      return connection.play(command.samples);
    case "clear":
      return connection.clear(command.generation);
    case "pause":
      return connection.pause(command.paused);
    case "message":
      return connection.send(command.text);
    case "answered":
      return connection.answered();
    case "candidates":
      return connection.addCandidates(command.candidates);
    case "attach":
      return void connection.attach(command.rates).catch(report);
    case "close":
      return connection.close(command.sayGoodbye);
    default:
      return command satisfies never;
  }
}

function openNew(id: number, request: number, iceServers: IceServer[]): MediaConnection | undefined {
  // Ids rise, so an id that is neither in the table nor new belongs to an ended connection.
  if (id <= newestId) {
    emit({ type: "offer-refused", connection: id, request, reason: "The connection is over" });
    return undefined;
  }
  newestId = id;
  try {
    sharedPort.open();
  } catch (error) {
    const reason = messageOf(error);
    emit({ type: "offer-refused", connection: id, request, reason, isOurFault: true });
    emit({ type: "closed", connection: id, reason: "never-connected" });
    return undefined;
  }
  const connection = createMediaConnection({
    id,
    settings,
    iceServers,
    effort,
    wheel,
    emit,
    report,
    closed: () => connections.delete(id),
  });
  connections.set(id, connection);
  return connection;
}

function emit(event: MediaEvent): void {
  outbox.post(event, event.type === "audio" || event.type === "played");
}

// If this thread ended while the native library runs, the whole process would end.
process.on("uncaughtException", report);

function report(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  port?.postMessage({ error: text } satisfies MediaProblem);
}

let observed = performance.eventLoopUtilization();
const observing = setInterval(() => {
  const { utilization } = performance.eventLoopUtilization(observed);
  observed = performance.eventLoopUtilization();
  if (!effort.observe(utilization)) return;
  const { complexity } = effort;
  for (const connection of connections.values()) connection.setComplexity(complexity);
  const busyPercent = Math.round(utilization * 100);
  port.postMessage({ complexity, busyPercent, connections: connections.size } satisfies MediaEffort);
}, OBSERVE_EVERY_MS);

function shutDown(): void {
  clearInterval(observing);
  for (const connection of connections.values()) connection.close(true);
  setTimeout(endThread, connections.size > 0 ? GOODBYES_MS : 0);
}

function endThread(): void {
  for (const connection of connections.values()) connection.close(false);
  outbox.flush();
  sharedPort.close();
  endNative();
  port?.close();
}
