import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { after, test } from "node:test";
import { patientMs } from "../../../testing/patience.ts";
import { Audio, endNative, openConnection, Video } from "./native.ts";
import { knownLines } from "./trunk.ts";

after(() => endNative());

const UNKNOWN = [
  "a=sctp-init:AQAAIAAAAAAAEAAA",
  "a=x-new-thing",
  "a=sctp-initial:1",
  "a=rtcp-xr:rcvr-rtt=all",
];

test("attributes that are not known are left out, the rest stays as it is", () => {
  const known = [
    "v=0",
    "a=group:BUNDLE 0",
    "m=application 9 x",
    "b=AS:30",
    "a=mid:0",
    "a=sctp-port:5000",
    "",
  ];
  assert.equal(knownLines(known.join("\r\n")), known.join("\r\n"));
  assert.equal(knownLines(known.toSpliced(-1, 0, ...UNKNOWN).join("\r\n")), known.join("\r\n"));
});

test("an answer repeats nothing of an offer that we do not know", async () => {
  const common = { config: { iceServers: [] }, gatherMs: 2_000 };
  const quiet = { changed: () => undefined, problem: (error: unknown) => assert.fail(String(error)) };
  const client = openConnection({ ...common, ...quiet, role: "offers" });
  const audio = new Audio("a", "SendRecv");
  audio.addOpusCodec(111);
  client.addTrack(audio);
  const video = new Video("v", "SendOnly");
  video.addVP8Codec(96);
  client.addTrack(video);
  client.createChannel("chat");
  const offer = (await client.offer()).replaceAll(/^(a=mid:.*)\r$/gm, `$1\r\n${UNKNOWN.join("\r\n")}\r`);
  assert.equal(offer.match(/a=sctp-init:/g)?.length, 3);
  const bot = openConnection({ ...common, ...quiet, role: "answers" });
  const answer = await bot.answer(offer);
  for (const line of UNKNOWN) assert.ok(!answer.includes(line), answer);
  assert.equal(answer.match(/^m=/gm)?.length, 3);
  client.close();
  bot.close();
});

test("a client that cannot decide on a path (ICE lite) leaves that to us", async () => {
  const common = { config: { iceServers: [] }, gatherMs: 2_000 };
  const quiet = { changed: () => undefined, problem: (error: unknown) => assert.fail(String(error)) };
  const client = openConnection({ ...common, ...quiet, role: "offers" });
  client.createChannel("chat");
  const offer = (await client.offer()).replaceAll(/a=(candidate|end-of-candidates).*\r\n/g, "");
  client.close();
  const socket = createSocket("udp4").bind(0, "127.0.0.1").unref();
  await once(socket, "listening");
  const candidate = `a=candidate:1 1 UDP 2114977791 127.0.0.1 ${socket.address().port} typ host\r\n`;
  const bot = openConnection({ ...common, ...quiet, role: "answers" });
  try {
    const checked = once(socket, "message", { signal: AbortSignal.timeout(patientMs(5_000)) });
    await bot.answer(offer.replace("t=0 0\r\n", "t=0 0\r\na=ice-lite\r\n") + candidate);
    const [check] = (await checked) as [Buffer];
    assert.ok(attributesOf(check).includes(ICE_CONTROLLING), check.toString("hex"));
  } finally {
    bot.close();
    socket.close();
  }
});

const ICE_CONTROLLING = 0x802a;

/** The types of a STUN message's attributes. */
function attributesOf(message: Buffer): number[] {
  const types: number[] = [];
  for (let at = 20; at + 4 <= message.length; at += 4 + ((message.readUInt16BE(at + 2) + 3) & ~3))
    types.push(message.readUInt16BE(at));
  return types;
}
