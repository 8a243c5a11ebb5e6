import { InstanceStart, type InstanceStop } from "@vocalhost/protocol";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";

/**
 * Goes once through what every start goes through, while nobody waits: the first time costs a process many times what
 * the second does, and an instance has no second.
 */
export async function rehearse(address: string, token: string): Promise<void> {
  const sessionId = randomUUID();
  InstanceStart.safeParse({
    epoch: 0,
    sessionId,
    transport: "webrtc",
    body: {},
    maxDurationMs: 1,
    connectDeadlineMs: 1,
    filter: null,
    connect: { kind: "webrtc", iceServers: [{ urls: ["stun:localhost"] }] },
  } satisfies InstanceStart);
  createHash("sha1").update(sessionId).digest("base64"); // as for a WebSocket's handshake
  const asked = request(`http://${address}/instance/stop`, {
    agent: false,
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  });
  // Stopping a session that nobody knows changes nothing.
  asked.end(JSON.stringify({ epoch: 0, sessionId, reason: "stopped" } satisfies InstanceStop));
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  await once(response.resume(), "end");
}
