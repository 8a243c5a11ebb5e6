// Callers of bots in rooms: each starts a session, joins its room and talks. Packets are encoded once.
import type { RoomStarted } from "@vocalhost/protocol";
import { joinBarely } from "../../e2e/harness/bare-participant.ts";
import { readSettings, serveLoad, type Caller, type Counts } from "./callers.ts";
import { encodeCall } from "./speech.ts";

const JOIN_ATTEMPTS = 4; // the client library fails now and then, before it meets the server

const { url, pauseMs } = readSettings();
const packets = await encodeCall(pauseMs);
serveLoad(open);

async function open(_index: number, counts: Counts): Promise<Caller> {
  const startedMs = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const { roomUrl, token } = await start();
    const participant = await joinBarely({ url: roomUrl, token, packet: () => (counts.received += 1) });
    try {
      await participant.connected();
      const microphone = await participant.publish();
      let next = Math.floor(Math.random() * packets.length);
      return {
        connectMs: performance.now() - startedMs,
        speak: () => microphone.send(packets[next++ % packets.length]!),
        close: () => participant.leave(),
      };
    } catch (error) {
      participant.leave();
      if (attempt >= JOIN_ATTEMPTS) throw error;
    }
  }
}

async function start(): Promise<RoomStarted> {
  const response = await fetch(`${url}/start`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ transport: "room" }),
  });
  if (!response.ok) throw new Error(`No room: ${response.status} ${await response.text()}`);
  return (await response.json()) as RoomStarted;
}
