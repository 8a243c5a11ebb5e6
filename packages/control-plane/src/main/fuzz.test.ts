// Input from unauthenticated clients must be accepted or refused with our own error, never fail in another way.
import { isAppError, parseFrame, parseJsonBody } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { size } from "../../../../testing/sizes.ts";
import { parseKey } from "../identity/key-format.ts";
import { readSocketToken } from "../sessions/doors/socket-tokens.ts";
import { openSignedJson, signJson } from "@vocalhost/base/signed-json";
import { createFrameTracker } from "@vocalhost/gateway/frame-tracker";
import { parseIngressAddress } from "@vocalhost/gateway/ingress-address";
import { parseRequestPath } from "@vocalhost/gateway/request-path";

const INPUTS = size(5_000, 1_000_000);
const SEED = 20_261_116;
const secret = "of the test";
const token = signJson({ secret, purpose: "socket-token" }, { sh: "a.b", exp: 9e9, nonce: "n", sid: "s" });
const key = "sk_0123456789abcdefghijklmnopqrstuvwxyzABCDEF";

/** Each target accepts any bytes and may throw only errors that are answers. */
const targets: [string, (bytes: Buffer) => void][] = [
  [
    "request path, socket address",
    (bytes) => {
      const path = parseRequestPath(`/ws/${bytes.toString("latin1")}`);
      if (!path) return;
      assert.ok(!/\/\.\.(\/|$)|\0|\\/.test(path.decoded), path.decoded);
      answered(() => parseIngressAddress(path, undefined));
    },
  ],
  ["authorization", (bytes) => answered(() => parseIngressAddress(PATH, bytes.toString("latin1")))],
  ["key", (bytes) => void parseKey(bytes.toString("utf8"))],
  [
    "signed token",
    (bytes) => {
      const text = bytes.toString("utf8");
      if (text !== token) assert.equal(openSignedJson({ secret, purpose: "socket-token" }, text), undefined);
      answered(() => readSocketToken({ secret }, text, 1));
    },
  ],
  ["JSON body", (bytes) => answered(() => parseJsonBody(bytes.toString("utf8")))],
  ["protobuf frame", (bytes) => answered(() => parseFrame(bytes))],
  [
    "WebSocket frames",
    (bytes) => {
      const tracker = createFrameTracker();
      tracker.push(bytes);
      assert.ok(tracker.missingBytes >= 0);
    },
  ],
];
const PATH = parseRequestPath("/ws/generic/a.b")!;

/** Valid inputs, to be mutated. */
const models = [
  Buffer.from("generic/agent.organization/token?serviceHost=a.b&body=e30="),
  Buffer.from(token),
  Buffer.from(`Bearer ${key}`),
  Buffer.from(key),
  Buffer.from('{"transport":"websocket","body":{"a":[1,2,{"b":null}]},"enableDefaultIceServers":true}'),
  Buffer.from([0x82, 0xfe, 0x01, 0x00, 1, 2, 3, 4, ...new Uint8Array(256)]),
  Buffer.from([0x12, 0x0b, 0x0a, 0x03, 0x61, 0x62, 0x63, 0x10, 0x80, 0x7d, 0x18, 0x01]),
];

test(`${INPUTS} inputs, seed ${SEED}`, () => {
  const next = random(SEED);
  for (let count = 0; count < INPUTS; count++) {
    const [name, target] = targets[count % targets.length]!;
    const input = bent(models[next(models.length)]!, next);
    try {
      target(input);
    } catch (error) {
      throw new Error(`${name}, input ${count}: ${input.toString("base64")}`, { cause: error });
    }
  }
});

function answered(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!isAppError(error) && !(error instanceof Error && error.name === "FrameError")) throw error;
  }
}

function bent(model: Buffer, next: (below: number) => number): Buffer {
  let bytes = Buffer.from(model);
  for (let times = 1 + next(4); times > 0; times--) {
    const at = next(bytes.length + 1);
    switch (next(5)) {
      case 0:
        if (at < bytes.length) bytes[at] = next(256);
        break;
      case 1:
        bytes = Buffer.from(bytes.subarray(0, at));
        break;
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from([next(256)]), bytes.subarray(at)]);
        break;
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), odd[next(odd.length)]!, bytes.subarray(at)]);
        break;
      default:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(next(at + 1))]).subarray(0, 4_096);
    }
  }
  return bytes;
}

const odd = ["%2e%2e/", "//", "\0", "[[[[[[[[[[", '"__proto__":', "%25", "\u{1F600}", "=", ".", "\r\n"].map(
  (text) => Buffer.from(text),
);

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
