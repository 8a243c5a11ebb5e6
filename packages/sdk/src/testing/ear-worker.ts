// Listens at a WebSocket in a thread of its own, which stays idle otherwise.
import { parentPort, workerData } from "node:worker_threads";
import { WebSocket } from "ws";
import type { EarData, EarMessage } from "./ear.ts";

const { url, say } = workerData as EarData;
const heard: EarMessage[] = [];
const socket = new WebSocket(url);
socket.on("open", () => say.forEach((text) => socket.send(text)));
socket.on("message", (data: Buffer, isBinary) =>
  heard.push({ atMs: performance.timeOrigin + performance.now(), bytes: Uint8Array.from(data), isBinary }),
);
parentPort?.on("message", (question: "heard" | "leave") => {
  if (question === "heard") parentPort?.postMessage(heard);
  else {
    socket.terminate();
    parentPort?.close();
  }
});
