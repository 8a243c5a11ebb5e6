import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { callBot, createPeerClient, freePeerClients } from "../harness/peer-client.ts";
import { call, type Answer } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { openSocket } from "../harness/socket-client.ts";
import { until } from "../../testing/wait.ts";

const runner = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts" });
const { port } = runner;
after(async () => {
  await runner[Symbol.asyncDispose]();
  freePeerClients();
});

interface BotCall {
  kind: string;
  sessionId: string;
  body: unknown;
  ended: string | null;
}

async function botCalls(): Promise<BotCall[]> {
  return (await call(port, "GET /calls")).json();
}

async function callWith(body: unknown): Promise<BotCall> {
  const wanted = JSON.stringify(body);
  const found = async () => (await botCalls()).find((made) => JSON.stringify(made.body) === wanted);
  return until(found, 15_000, `call of the bot with ${wanted}`);
}

async function start(body: unknown): Promise<string> {
  return (await call(port, "POST /start", { body: { transport: "webrtc", body } })).json().sessionId;
}

function offer(fields: Record<string, unknown>, path = "/api/offer"): Promise<Answer> {
  return call(port, `POST ${path}`, { body: { type: "offer", pc_id: null, ...fields } });
}

describe("POST /api/offer", () => {
  test("is answered with our candidates and every media line mirrored", async () => {
    using peer = createPeerClient();
    const answer = await offer({ sdp: await peer.offer(), restart_pc: false });
    assert.equal(answer.status, 200);
    const { sdp, type, pc_id, ...rest } = answer.json();
    assert.equal(type, "answer");
    assert.match(pc_id, /^\S{8,}$/);
    assert.deepEqual(rest, {});
    const sections = String(sdp).split(/^m=/m).slice(1);
    assert.deepEqual(
      sections.map((section) => [
        section.split(" ")[0],
        /a=mid:(\S+)/.exec(section)?.[1],
        /a=(sendrecv|recvonly)/.exec(section)?.[1],
      ]),
      [
        ["audio", "0", "sendrecv"],
        ["video", "1", "sendrecv"],
        ["video", "2", "recvonly"],
        ["application", "3", "sendrecv"],
      ],
    );
    assert.match(sdp, /a=candidate:/);
    assert.match(sdp, /a=rtpmap:111 opus\/48000\/2/);
    assert.match(sdp, /a=max-message-size:65536/);
  });

  test("a new connection calls the bot once, with the offer's data under either name", async () => {
    for (const name of ["request_data", "requestData"]) {
      const body = { under: name };
      using peer = await callBot({ port, fields: { [name]: body } });
      const made = await callWith(body);
      assert.equal(made.kind, "webrtc");
      peer.close();
      assert.equal((await botCalls()).filter((other) => other.sessionId === made.sessionId).length, 1);
    }
  });

  test("audio and messages go both ways", async () => {
    using peer = await callBot({ port });
    peer.sendText(
      JSON.stringify({ label: "rtvi-ai", id: "7", type: "client-ready", data: { version: "2.1.0" } }),
    );
    const ready = await until(
      () => peer.texts.find((text) => text.includes("bot-ready")),
      15_000,
      "bot-ready",
    );
    assert.equal(JSON.parse(ready).id, "7");
    await peer.speak(50, "tone");
    await until(() => peer.heard.voiced >= 45, 15_000, "echo");
  });

  test("renegotiation keeps the connection, its id and the bot", async () => {
    const body = { renegotiates: true };
    using peer = await callBot({ port, fields: { requestData: body } });
    const before = (await callWith(body)).sessionId;
    for (let round = 0; round < 3; round += 1) {
      const answer = await offer({ sdp: await peer.offer(), pc_id: peer.pcId, restart_pc: false });
      assert.equal(answer.status, 200, answer.body);
      assert.equal(answer.json().pc_id, peer.pcId);
      peer.accept(answer.json().sdp);
    }
    peer.heard.restart();
    await peer.speak(25, "tone");
    await until(() => peer.heard.voiced >= 20, 15_000, "echo after the renegotiation");
    assert.equal((await botCalls()).filter(({ sessionId }) => sessionId === before).length, 1);
  });

  test("a second offer before the first has connected changes nothing for the bot", async () => {
    using peer = createPeerClient();
    const body = { twice: true };
    const first = await offer({ sdp: await peer.offer(), requestData: body });
    const { pc_id } = first.json();
    const again = await Promise.all([1, 2, 3, 4].map(async () => offer({ sdp: await peer.offer(), pc_id })));
    for (const answer of again) assert.equal(answer.json().pc_id, pc_id, answer.body);
    peer.accept(again.at(-1)?.json().sdp);
    await peer.connected();
    const { sessionId } = await callWith(body);
    assert.equal((await botCalls()).filter((made) => made.sessionId === sessionId).length, 1);
  });

  test("a restart gives a new id, forgets the old one and keeps the bot", async () => {
    const body = { restarts: true };
    using old = await callBot({ port, fields: { requestData: body } });
    const { sessionId } = await callWith(body);
    using peer = await callBot({ port, fields: { pc_id: old.pcId, restart_pc: true } });
    assert.notEqual(peer.pcId, old.pcId);
    const late = await call(port, "PATCH /api/offer", { body: { pc_id: old.pcId, candidates: [] } });
    assertRefused(late, "PEER_NOT_FOUND", "Peer connection not found");
    await peer.speak(25, "tone");
    await until(() => peer.heard.voiced >= 20, 15_000, "echo after the restart");
    const made = (await botCalls()).filter((other) => other.sessionId === sessionId);
    assert.deepEqual(
      made.map(({ ended }) => ended),
      [null],
    );
  });

  test("an unknown id with restart_pc is simply a new connection", async () => {
    const body = { unknown: true };
    using peer = await callBot({
      port,
      fields: { pc_id: "never-seen", restart_pc: true, request_data: body },
    });
    assert.notEqual(peer.pcId, "never-seen");
    await callWith(body);
  });

  test("missing and wrong fields are listed", async () => {
    const answer = await call(port, "POST /api/offer", { body: { pc_id: 5 } });
    assertRefused(answer, "INVALID_REQUEST");
    const { detail } = answer.json();
    assert.deepEqual(
      detail.map((problem: { loc: unknown }) => problem.loc),
      [
        ["body", "sdp"],
        ["body", "type"],
        ["body", "pc_id"],
      ],
    );
    for (const { msg, type } of detail) assert.ok(msg && type);
    assertRefused(await call(port, "POST /api/offer"), "INVALID_REQUEST");
    assertRefused(await offer({ sdp: "v=0", type: "answer" }), "INVALID_REQUEST");
  });

  test("what is no session description is refused for good", async () => {
    for (const sdp of ["", "nonsense", "v=0", "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n"])
      assertRefused(await offer({ sdp }), "INVALID_SDP");
  });

  test("a broken body is refused, unlike at /start", async () => {
    const answer = await call(port, "POST /api/offer", {
      body: "{",
      headers: { "content-type": "application/json" },
    });
    assertRefused(answer, "MALFORMED_JSON");
  });
});

describe("PATCH /api/offer", () => {
  test("takes candidates of every shape clients send", async () => {
    using peer = createPeerClient();
    const { pc_id, sdp } = (await offer({ sdp: await peer.offer() })).json();
    const host = "1 1 udp 2122260223";
    const shapes = [
      { candidate: "", sdp_mid: "0", sdp_mline_index: 0 },
      { candidate: `candidate:${host} 192.0.2.1 54321 typ host`, sdp_mid: null, sdp_mline_index: null },
      {
        candidate: `candidate:${host} 6ba7b810-9dad-11d1-80b4-00c04fd430c8.local 54321 typ host`,
        sdp_mid: "0",
        sdp_mline_index: 0,
      },
      { candidate: "candidate:nonsense", sdp_mid: "9", sdp_mline_index: 99 },
      ...peer.candidates(),
    ];
    peer.accept(sdp); // before its candidates are known, see the client
    for (const candidates of [[], ...shapes.map((shape) => [shape]), shapes]) {
      const answer = await call(port, "PATCH /api/offer", { body: { pc_id, candidates } });
      assert.deepEqual([answer.status, answer.json()], [200, { status: "success" }]);
    }
    await peer.connected();
  });

  test("of an unknown connection are refused", async () => {
    const answer = await call(port, "PATCH /api/offer", { body: { pc_id: "unknown", candidates: [] } });
    assertRefused(answer, "PEER_NOT_FOUND", "Peer connection not found");
  });

  test("need all three fields", async () => {
    const answer = await call(port, "PATCH /api/offer", {
      body: { pc_id: "x", candidates: [{ candidate: "" }] },
    });
    assertRefused(answer, "INVALID_REQUEST");
    const loc = answer.json().detail.map((problem: { loc: unknown[] }) => problem.loc.join("."));
    assert.deepEqual(loc, ["body.candidates.0.sdp_mid", "body.candidates.0.sdp_mline_index"]);
  });
});

describe("/sessions/{id}/api/offer", () => {
  test("gives the bot this session and what was sent with the start", async () => {
    const sessionId = await start({ from: "start" });
    using peer = await callBot({ port, path: `/sessions/${sessionId}/api/offer` });
    assert.equal((await callWith({ from: "start" })).sessionId, sessionId);
    const trickled = await call(port, `PATCH /sessions/${sessionId}/api/offer`, {
      body: { pc_id: peer.pcId, candidates: peer.candidates() },
    });
    assert.deepEqual(trickled.json(), { status: "success" });
  });

  test("data of the offer wins over data of the start", async () => {
    const sessionId = await start({ from: "start" });
    using peer = await callBot({
      port,
      path: `/sessions/${sessionId}/api/offer`,
      fields: { requestData: { from: "offer" } },
    });
    assert.equal((await callWith({ from: "offer" })).sessionId, sessionId);
    assert.ok(peer.pcId);
  });

  test("a start with body null still has its session", async () => {
    const sessionId = await start(null);
    using peer = await callBot({ port, path: `/sessions/${sessionId}/api/offer` });
    const made = await until(
      async () => (await botCalls()).find((other) => other.sessionId === sessionId),
      15_000,
      "call",
    );
    assert.deepEqual([made.body, peer.pcId.length > 0], [{}, true]);
  });

  test("every final refusal is one 400, so that clients stop", async () => {
    const sessionId = await start({});
    const path = `/sessions/${sessionId}/api/offer`;
    assertRefused(
      await call(port, `POST ${path}`, { body: {} }),
      "INVALID_WEBRTC_REQUEST",
      /^Invalid WebRTC request/,
    );
    assertRefused(await offer({ sdp: "nonsense" }, path), "INVALID_WEBRTC_REQUEST");
    const candidates = await call(port, `PATCH ${path}`, { body: { pc_id: "unknown", candidates: [] } });
    assertRefused(candidates, "INVALID_WEBRTC_REQUEST");
  });

  test("a second client cannot take over a live connection", async () => {
    const path = `/sessions/${await start({})}/api/offer`;
    using peer = await callBot({ port, path });
    using other = createPeerClient();
    const sdp = await other.offer();
    assertRefused(
      await offer({ sdp, pc_id: "another" }, path),
      "INVALID_WEBRTC_REQUEST",
      /PC ID mismatch with existing connection/,
    );
    assertRefused(
      await offer({ sdp }, path),
      "INVALID_WEBRTC_REQUEST",
      /Cannot create new connection with existing connection active/,
    );
    assert.equal(peer.state, "connected");
  });

  test("a session that waits for a WebSocket takes no offer", async () => {
    const answer = await call(port, "POST /start", { body: { transport: "websocket", body: {} } });
    const id = answer.headers["x-vocalhost-session-id"];
    using peer = createPeerClient();
    const refused = await offer({ sdp: await peer.offer() }, `/sessions/${id}/api/offer`);
    assertRefused(refused, "INVALID_WEBRTC_REQUEST", /websocket/);
    using client = await openSocket(answer.json().wsUrl);
    assert.ok(client);
  });

  test("an unknown session", async () => {
    const answer = await offer({ sdp: "v=0" }, "/sessions/unknown/api/offer");
    assertRefused(answer, "SESSION_NOT_FOUND", "Invalid or not-yet-ready session_id");
  });
});
