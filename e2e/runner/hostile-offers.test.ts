import assert from "node:assert/strict";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { size } from "../../testing/sizes.ts";
import { callBot, createPeerClient, freePeerClients, rtpPacket } from "../harness/peer-client.ts";
import { patientMs } from "../../testing/patience.ts";
import { isAlive, processFigures } from "../harness/process-figures.ts";
import { call, type Answer } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { until } from "../../testing/wait.ts";

const runner = await startRunnerProcess({ bot: "e2e/bots/impatient-runner.ts" });
const { port } = runner;
const pid = runner.process.pid!;
after(async () => {
  await runner[Symbol.asyncDispose]();
  freePeerClients();
});

const OFFER = readFileSync(new URL("../fixtures/chromium-offer.sdp", import.meta.url), "utf8");
const LINES = OFFER.trimEnd().split("\r\n");
const SLOWEST_ANSWER_MS = 1_000;
const SLOWEST_LOOP_MS = 500;

async function offer(sdp: string, fields: object = {}): Promise<Answer> {
  const sentMs = performance.now();
  const answer = await call(port, "POST /api/offer", {
    body: { sdp, type: "offer", pc_id: null, ...fields },
  });
  const tookMs = performance.now() - sentMs;
  assert.ok(tookMs < patientMs(SLOWEST_ANSWER_MS), `the answer took ${Math.round(tookMs)} ms`);
  return answer;
}

/** Answered or refused for good, nothing else. */
async function offerHostile(sdp: string, fields: object = {}): Promise<void> {
  const answer = await offer(sdp, fields);
  if (answer.status === 200) assert.match(answer.json().sdp, /^v=0\r\n/);
  else assertRefused(answer, "INVALID_SDP");
  assert.ok(isAlive(pid), "the runner has died");
}

async function figures(): Promise<{ sessions: number; loopDelayMs: number }> {
  return (await call(port, "GET /figures")).json();
}

async function allGone(): Promise<void> {
  await until(async () => (await figures()).sessions === 0, 10_000, "end of all sessions");
}

const withLine = (from: RegExp, to: string): string =>
  LINES.map((line) => line.replace(from, to)).join("\r\n");

const NASTY: [string, string][] = [
  ["payload type 128", withLine(/\b111\b/g, "128")],
  ["payload type 999", withLine(/\b111\b/g, "999")],
  ["payload type 99999999999", withLine(/\b111\b/g, "99999999999")],
  ["no Opus", withLine(/opus\/48000\/2/, "opux/48000/2")],
  ["a port that is none", withLine(/^m=(\w+) \d+/, "m=$1 99999999999")],
  ["port 0 everywhere", withLine(/^m=(\w+) \d+/, "m=$1 0")],
  ["SCTP port", withLine(/^a=sctp-port:.*/, "a=sctp-port:99999999999")],
  ["SCTP port word", withLine(/^a=sctp-port:.*/, "a=sctp-port:five")],
  ["message size 0", withLine(/^a=max-message-size:.*/, "a=max-message-size:0")],
  [
    "message size without end",
    withLine(/^a=max-message-size:.*/, "a=max-message-size:99999999999999999999999"),
  ],
  ["long mid", withLine(/^a=mid:0/, `a=mid:${"m".repeat(10_000)}`)],
  ["odd mid", withLine(/^a=mid:0/, "a=mid:\u0000\u{1f600}\"'\\")],
  ["long ufrag", withLine(/^a=ice-ufrag:.*/, `a=ice-ufrag:${"u".repeat(5_000)}`)],
  ["short ufrag", withLine(/^a=ice-ufrag:.*/, "a=ice-ufrag:u")],
  ["short password", withLine(/^a=ice-pwd:.*/, "a=ice-pwd:p")],
  ["odd ufrag", withLine(/^a=ice-ufrag:.*/, "a=ice-ufrag:\u0000 \u{1f600}")],
  ["no fingerprint", LINES.filter((line) => !line.startsWith("a=fingerprint")).join("\r\n")],
  ["weak fingerprint", withLine(/^a=fingerprint:.*/, "a=fingerprint:md5 00")],
  ["odd fingerprint", withLine(/^a=fingerprint:.*/, "a=fingerprint:sha-256 ZZ:ZZ")],
  ["unknown setup", withLine(/^a=setup:.*/, "a=setup:holdconn")],
  ["no setup", LINES.filter((line) => !line.startsWith("a=setup")).join("\r\n")],
  ["passive setup", withLine(/^a=setup:.*/, "a=setup:passive")],
  ["SSRC beyond", withLine(/^a=ssrc:\d+/, "a=ssrc:99999999999999999999")],
  ["negative numbers", withLine(/\b\d+\b/g, "-1")],
  ["huge numbers", withLine(/(?<=^a=candidate.*)\b\d+\b/g, "99999999999999999999999999")],
  ["odd candidates", withLine(/^a=candidate:.*/, "a=candidate:")],
  ["candidates with names", withLine(/192\.0\.2\.1/, "does-not-exist.invalid")],
  ["candidates of our own machine", withLine(/192\.0\.2\.1/, "127.0.0.1")],
  [
    "only media we do not have",
    OFFER.slice(0, OFFER.indexOf("m=audio")) + OFFER.slice(OFFER.indexOf("m=video")),
  ],
  ["audio twice", OFFER.replace("m=video", "m=audio").replaceAll(/VP8\/90000/g, "opus/48000/2")],
  ["unknown medium", OFFER.replace("m=audio", "m=smell")],
  ["empty lines", OFFER.replaceAll("\r\n", "\r\n\r\n")],
  ["NULs", OFFER.replaceAll("a=", "\u0000a=")],
  ["one long line", `v=0 ${OFFER.replaceAll("\r\n", " ")}`],
  ["extmap beyond", withLine(/^a=extmap:\d+/, "a=extmap:99999999999")],
  ["rtcp-fb for nothing", withLine(/^a=rtcp-fb:\d+/, "a=rtcp-fb:*")],
  ["rtpmap without a number", withLine(/^a=rtpmap:\d+/, "a=rtpmap:")],
  ["fmtp without a number", withLine(/^a=fmtp:\d+/, "a=fmtp:x")],
];

describe("offers", () => {
  test("the browser's own is answered", async () => {
    assert.equal((await offer(OFFER)).status, 200);
    assert.equal((await offer(OFFER.replaceAll("\r\n", "\n"))).status, 200);
  });

  test("beyond the limits they are refused", async () => {
    const section = OFFER.slice(OFFER.indexOf("m=application"));
    const many = (count: number) =>
      OFFER +
      Array.from({ length: count }, (_, at) => section.replace("a=mid:3", `a=mid:${at + 4}`)).join("");
    assertRefused(await offer(many(5)), "INVALID_SDP", /too many media lines/);
    const candidates = "a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n".repeat(101);
    assertRefused(await offer(OFFER + candidates), "INVALID_SDP", /too many candidates/);
    assertRefused(await offer(`${OFFER}a=x:${"x".repeat(64 * 1024)}\r\n`), "INVALID_SDP", /larger than/);
  });

  for (const [what, sdp] of NASTY) test(what, () => offerHostile(sdp));

  test("several hundred mutations of it", async () => {
    await figures();
    const line = fc.nat(LINES.length - 1);
    const edit = fc.oneof(
      line.map((at) => ({ name: "without line", run: (lines: string[]) => lines.toSpliced(at, 1) })),
      line.map((at) => ({
        name: "line twice",
        run: (lines: string[]) => lines.toSpliced(at, 0, lines[at] ?? ""),
      })),
      fc.tuple(line, line).map(([from, to]) => ({
        name: "line moved",
        run: (lines: string[]) => lines.toSpliced(from, 1).toSpliced(to, 0, lines[from] ?? ""),
      })),
      fc
        .tuple(line, fc.oneof(fc.integer(), fc.bigInt(), fc.constantFrom("", "-", "1e9", "0x7f")))
        .map(([at, number]) => ({
          name: "another number",
          run: (lines: string[]) =>
            lines.with(at % lines.length, (lines[at % lines.length] ?? "").replace(/\d+/, String(number))),
        })),
      fc.tuple(line, fc.nat(80), fc.string({ unit: "binary", maxLength: 12 })).map(([at, place, text]) => ({
        name: "other text",
        run: (lines: string[]) => {
          const old = lines[at % lines.length] ?? "";
          return lines.with(at % lines.length, old.slice(0, place) + text + old.slice(place + text.length));
        },
      })),
      line.map((at) => ({ name: "cut short", run: (lines: string[]) => lines.slice(0, Math.max(1, at)) })),
      fc.tuple(line, fc.nat(40)).map(([at, place]) => ({
        name: "line cut short",
        run: (lines: string[]) =>
          lines.with(at % lines.length, (lines[at % lines.length] ?? "").slice(0, place)),
      })),
    );
    const answered = { yes: 0, no: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
        const sdp = edits.reduce((lines, { run }) => run(lines), LINES).join("\r\n");
        const answer = await offer(sdp);
        if (answer.status === 200) answered.yes += 1;
        else assertRefused(answer, "INVALID_SDP");
        answered.no += answer.status === 200 ? 0 : 1;
        assert.ok(isAlive(pid), "the runner has died");
      }),
      { numRuns: size(50, 400), endOnFailure: true },
    );
    assert.ok(answered.yes > 5 && answered.no > 5, JSON.stringify(answered));
    const { loopDelayMs } = await figures();
    assert.ok(loopDelayMs < patientMs(SLOWEST_LOOP_MS), `the loop was ${loopDelayMs} ms late`);
  });

  test("unconnected ones are gone after the deadline, with their sockets", async () => {
    await allGone();
    await until(() => processFigures(pid).udpSockets === 0, 15_000, "end of all sockets");
    assert.match(runner.output(), /session ended .*reason=never-connected/);
  });
});

describe("on a live connection", () => {
  test("a hostile renegotiation is refused and the call goes on", async () => {
    using peer = await callBot({ port });
    for (const [, sdp] of NASTY) {
      const answer = await offer(sdp, { pc_id: peer.pcId });
      assert.ok(answer.status === 200 || answer.status === 400, answer.body);
    }
    peer.heard.restart();
    await peer.speak(30, "tone");
    await until(() => peer.heard.voiced >= 20, 15_000, "echo");
    assert.ok(isAlive(pid));
  });

  test("twenty offers at once, some of them restarts", async () => {
    using peer = await callBot({ port });
    using other = createPeerClient();
    const sdp = await other.offer();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        call(port, "POST /api/offer", {
          body: { sdp, type: "offer", pc_id: peer.pcId, restart_pc: at % 3 === 0 },
        }),
      ),
    );
    for (const answer of answers) assert.ok(answer.status === 200 || answer.status === 400, answer.body);
    assert.ok(isAlive(pid));
  });

  test("candidates by the thousand, and of every kind", async () => {
    using peer = await callBot({ port });
    const texts = [
      ...Array.from(
        { length: 6_000 },
        (_, at) => `candidate:${at} 1 udp ${at} 192.0.2.${at % 250} ${at} typ host`,
      ),
      ...Array.from({ length: 100 }, (_, at) => `candidate:1 1 udp 1 host-${at}.invalid 9 typ host`),
      ...[
        "\u0000",
        "candidate:",
        "a=candidate:x",
        "candidate:1 1 udp 1 ::::: 9 typ host",
        "candidate:1 1 tcp 1 [ 9 typ",
      ],
      `candidate:1 1 udp 1 192.0.2.1 9 typ host ${"x".repeat(60_000)}`,
    ];
    const candidates = texts.map((candidate) => ({ candidate, sdp_mid: "\u0000x", sdp_mline_index: -5 }));
    const answer = await call(port, "PATCH /api/offer", { body: { pc_id: peer.pcId, candidates } });
    assert.ok(answer.status === 200 || answer.status === 422, answer.body);
    peer.heard.restart();
    await peer.speak(30, "tone");
    await until(() => peer.heard.voiced >= 20, 15_000, "echo");
    assert.ok(isAlive(pid));
  });

  test("junk on the data channel is ignored", async () => {
    using peer = await callBot({ port });
    const texts = [
      "",
      "null",
      "[]",
      "{",
      '"x"',
      "ping",
      "\u0000",
      '{"label":"rtvi-ai"}',
      '{"label":"rtvi-ai","type":5}',
      '{"type":"signalling"}',
      '{"type":"signalling","message":{"type":"trackStatus","receiver_index":"x"}}',
      '{"label":"rtvi-ai","type":"client-ready","data":5}',
      '{"label":"rtvi-ai","type":"constructor"}',
      '{"label":"rtvi-ai","type":"raw-audio","data":{"base64Audio":"AAAA","sampleRate":1,"numChannels":1}}',
      "[".repeat(60_000),
      "x".repeat(65_000),
    ];
    for (const text of texts) peer.sendText(text);
    for (const length of [0, 1, 1_000, 65_000]) peer.sendBytes(Buffer.alloc(length, 0xff));
    const junk = fc.sample(fc.string({ unit: "binary", maxLength: 200 }), 300);
    for (const text of junk) peer.sendText(text);
    const extra = Array.from({ length: 10 }, (_, at) => peer.openChannel(`extra-${at}`));
    await until(() => extra.every((channel) => channel.isOpen()), 15_000, "opening of the extra channels");
    for (const channel of extra) channel.sendMessage("hello");
    for (const channel of extra) channel.close();
    peer.heard.restart();
    await peer.speak(30, "tone");
    await until(() => peer.heard.voiced >= 20, 15_000, "echo");
    peer.sendText('{"label":"rtvi-ai","id":"1","type":"client-ready","data":{"version":"2.1.0"}}');
    await until(() => peer.texts.find((text) => text.includes("bot-ready")), 15_000, "bot-ready");
    assert.ok(isAlive(pid));
  });

  test("junk in the media is ignored", async () => {
    using peer = await callBot({ port });
    const payloads = fc.sample(fc.uint8Array({ maxLength: 1_000 }), 500);
    payloads.forEach((payload, at) => {
      const packet = rtpPacket({ payload, sequenceNumber: at * 3, timestamp: at * 7_919 });
      packet[0] = 0x80 | ((payload[0] ?? 0) & 0x3f); // padding, extension and sources that are not there
      peer.sendPacket(packet);
    });
    peer.sendText('{"label":"rtvi-ai","id":"1","type":"client-ready","data":{"version":"2.1.0"}}');
    await until(() => peer.texts.find((text) => text.includes("bot-ready")), 15_000, "bot-ready");
    assert.ok(isAlive(pid));
    assert.doesNotMatch(runner.output(), /bot failed/);
  });
});
