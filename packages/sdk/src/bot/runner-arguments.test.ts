import assert from "node:assert/strict";
import { test } from "node:test";
import type { WebSocket } from "ws";
import { createWebRtcArguments, createWebSocketArguments } from "./runner-arguments.ts";
import { attachHooks, hooksOf, type SessionHooks } from "../transports/session-hooks.ts";
import type { WebRtcConnection } from "./runner-arguments.ts";

const common = {
  sessionId: "ses",
  body: { a: 1 },
  callData: null,
  cliArgs: { loud: true },
  signal: new AbortController().signal,
};
const websocket = { name: "socket" } as unknown as WebSocket;
const webrtcConnection = { name: "connection" } as unknown as WebRtcConnection;

test("every name that has an underscore is the other spelling of one that has none", () => {
  const socket = createWebSocketArguments({ ...common, websocket, transportType: "websocket" });
  assert.equal(socket.kind, "websocket");
  assert.equal(socket.session_id, "ses");
  assert.equal(socket.call_data, null);
  assert.equal(socket.cli_args, common.cliArgs);
  assert.equal(socket.transport_type, "websocket");
  assert.deepEqual([socket.handle_sigint, socket.handle_sigterm], [false, false]);
  assert.equal(socket.pipeline_idle_timeout_secs, 300);
  const peer = createWebRtcArguments({ ...common, webrtcConnection, idleTimeoutSecs: null });
  assert.equal(peer.pipelineIdleTimeoutSecs, null);
  assert.equal(peer.kind, "webrtc");
  assert.equal(peer.session_id, "ses");
  assert.equal(peer.webrtc_connection, webrtcConnection);
});

test("a logged or spread object shows each value once", () => {
  const args = createWebSocketArguments({ ...common, websocket, transportType: "websocket" });
  const names = [
    ...["kind", "sessionId", "body", "callData", "cliArgs", "signal", "websocket", "transportType"],
    ...["handleSigint", "handleSigterm", "pipelineIdleTimeoutSecs"],
  ];
  assert.deepEqual(Object.keys(args).sort(), names.sort());
  assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(args)) as object).sort(), names.sort());
});

test("a spelling that does not apply is absent", () => {
  const args = createWebRtcArguments({ ...common, webrtcConnection });
  assert.ok(!("transport_type" in args));
  assert.ok(
    !("webrtc_connection" in createWebSocketArguments({ ...common, websocket, transportType: "websocket" })),
  );
});

test("a session finds its hooks again by the very object the bot was given", () => {
  const args = createWebRtcArguments({ ...common, webrtcConnection });
  const hooks = {} as SessionHooks;
  attachHooks(args, hooks);
  assert.equal(hooksOf(args), hooks);
  assert.throws(() => hooksOf({ ...args }), /needs the arguments object that bot\(\) was given/);
});
