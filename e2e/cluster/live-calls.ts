import type { ApiClient } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { until } from "../../testing/wait.ts";
import { callBot, type PeerClient } from "../harness/peer-client.ts";
import { faultBot } from "../hosted/fault-bot.ts";
import { openCall, type Call } from "../hosted/fault-call.ts";

/** Where calls come in. */
export interface Door {
  publicApi: ApiClient;
  publicKey: string;
  port: number;
  /** @default this machine */
  address?: string;
}

export interface PeerCall extends Disposable {
  sessionId: string;
  peer: PeerClient;
}

const NUMBERS = 25; // half a second of them
const PACKETS = 25;
const VOICED = 5;
const PING_MS = 1_000; // as released clients do

/** Numbers that come over a WebSocket it says back as they are, sound over WebRTC as any echo does. */
export function countingBot(version = "1"): string {
  const sayBack = faultBot({ truthFile: "/tmp/truth", version })["bot.ts"] ?? "";
  return `
import { createTransport } from "vocalhost";
${sayBack.replace("export async function bot(", "async function sayBack(")}
export async function bot(args) {
  if (args.kind === "websocket") return sayBack(args);
  const transport = await createTransport(args);
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
}
`;
}

export function callOverSocket({ publicApi, port, address }: Door, agent: string): Promise<Call> {
  return openCall({ publicApi }, { agent, port, ...(address === undefined ? {} : { host: address }) });
}

export async function callOverWebRtc(door: Door, agent: string): Promise<PeerCall> {
  const { publicApi, publicKey, port, address } = door;
  const started = await publicApi.sessions.start(agent, { transport: "webrtc" });
  if (!("sessionId" in started)) throw new Error("The start gave no session");
  const { sessionId } = started;
  const peer = await callBot({
    port,
    ...(address === undefined ? {} : { address }),
    path: `/v1/public/${agent}/sessions/${sessionId}/api/offer`,
    headers: { authorization: `Bearer ${publicKey}`, host: `${address ?? "localhost"}:${port}` },
  });
  // Without it a caller who is quiet while a test waits for something else counts as lost.
  const pings = setInterval(() => peer.ping(), PING_MS);
  return {
    sessionId,
    peer,
    [Symbol.dispose]() {
      clearInterval(pings);
      peer.close();
    },
  };
}

/** Resolves when every one of them has heard more of what it said. */
export async function goOn(calls: readonly Call[], peers: readonly PeerCall[] = []): Promise<void> {
  const counted = calls.map(({ echoed }) => echoed);
  const heard = peers.map(({ peer }) => peer.heard.voiced);
  await Promise.all(peers.map(({ peer }) => peer.speak(PACKETS, "tone")));
  await until(
    () =>
      calls.every(({ echoed }, at) => echoed > counted[at]! + NUMBERS) &&
      peers.every(({ peer }, at) => peer.heard.voiced > heard[at]! + VOICED),
    30_000,
    "calls that go on",
  );
  assert.deepEqual(
    calls.flatMap(({ faults }) => faults),
    [],
  );
}

/** Ends calls as their callers wish; nothing that was said may be missing. */
export async function hangUp(calls: readonly Call[], peers: readonly PeerCall[] = []): Promise<void> {
  for (const call of calls) call.fallSilent();
  await until(() => calls.every(({ sent, echoed }) => sent === echoed), 30_000, "every number back");
  assert.deepEqual(
    calls.flatMap(({ faults }) => faults),
    [],
  );
  for (const call of calls) call.say("hang up");
  for (const call of calls) assert.equal(await call.closed(60_000), 1000);
  for (const { peer } of peers) peer.close();
}
