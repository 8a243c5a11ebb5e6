import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { test } from "node:test";
import { promisify } from "node:util";
import { pause, within } from "../../../testing/wait.ts";
import { limitConnectionsPerAddress } from "./connections-per-address.ts";
import { SESSION_PATH, startRig } from "./testing/start-rig.ts";

const HEAD = "Host: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";

function begin(port: number, path: string): { socket: Socket; answer: Promise<string> } {
  const socket = connect(port, "127.0.0.1");
  socket.write(`POST ${path} HTTP/1.1\r\n${HEAD}`);
  const answer = once(socket.setEncoding("utf8"), "data").then(
    ([text]) => String(text).split("\r\n")[0] ?? "",
  );
  return { socket, answer };
}

test("a body that does not come is not waited for", { timeout: 10_000 }, async () => {
  await using rig = await startRig({ timing: { bodyMs: 300 } });
  rig.controller.serve = (request, response) => void request.resume().once("end", () => response.end());
  const { socket, answer } = begin(rig.gateway.port, "/auth/sign-in/email");
  assert.equal(await answer, "HTTP/1.1 408 Request Timeout");
  await once(socket, "close");
});

test(
  "one address has only a few slow bodies; an upload may be one of them",
  { timeout: 10_000 },
  async () => {
    await using rig = await startRig({
      timing: { bodyMs: 60_000, slowBodyMs: 100 },
      limits: { slowBodiesPerAddress: 2 },
    });
    rig.controller.serve = (request, response) => void request.resume().once("end", () => response.end());
    const all = Array.from({ length: 4 }, () => begin(rig.gateway.port, "/v1/builds/uploads/1"));
    const refused: string[] = [];
    for (const { answer } of all)
      void answer.then(
        (line) => refused.push(line),
        () => undefined,
      );
    while (refused.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(refused, ["HTTP/1.1 408 Request Timeout", "HTTP/1.1 408 Request Timeout"]);
    const open = all.filter(({ socket }) => !socket.destroyed && !socket.readableEnded);
    for (const { socket } of open) socket.write(" ".repeat(99));
    while (refused.length < 4) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(refused.slice(2), ["HTTP/1.1 200 OK", "HTTP/1.1 200 OK"]);
    for (const { socket } of all) socket.destroy();
  },
);

const LONG_HEAD = HEAD.replace("100", "1000000");

const EARLY_ANSWERS: [string, string, string][] = [
  ["preflight", "OPTIONS /v1/public/parrot/start", "Access-Control-Request-Method: POST\r\n"],
  ["preflight of a session", `OPTIONS ${SESSION_PATH}/offer`, "Access-Control-Request-Method: POST\r\n"],
  ["health", "POST /healthz", ""],
  ["private path", "POST /internal/session-route", ""],
  ["odd path", "POST /%2e%2e/x", ""],
  ["two hosts", "POST /v1/agents", "Host: y\r\n"],
  ["path of carriers", "POST /ws/twilio", ""],
  ["rooms", "GET /rtc/validate", ""],
  ["unknown expectation", "POST /v1/agents", "Expect: wonders\r\n"],
];

for (const [name, line, header] of EARLY_ANSWERS)
  test(`the rest of a body is not waited for after an answer: ${name}`, { timeout: 60_000 }, async () => {
    await using rooms = await startRooms();
    await using rig = await startRig({ timing: { bodyMs: 600_000, slowBodyMs: 600_000 } });
    rig.gateway.setRoomServer(rooms.address);
    const socket = connect(rig.gateway.port, "127.0.0.1");
    const trickle = setInterval(() => socket.write(" "), 20);
    socket.write(`${line} HTTP/1.1\r\n${header}${LONG_HEAD}`);
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    socket.on("error", () => undefined);
    const closed = once(socket, "close");
    await within(closed, 2_000, "end of the connection").finally(() => {
      clearInterval(trickle);
      socket.destroy();
    });
    assert.match(text, /^HTTP\/1.1 [245]\d\d /);
  });

for (const path of ["/healthz", "/internal/x", "/v1/%2e%2e"])
  test(`where there is no body the connection is kept after an answer: ${path}`, async () => {
    await using rig = await startRig();
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\n`;
    const text = await rig.raw(`${head}\r\n${head}Connection: close\r\n\r\n`);
    assert.equal(text.split("HTTP/1.1 ").length - 1, 2, text);
  });

test("one that was answered and has gone is no slow body", { timeout: 60_000 }, async () => {
  await using rig = await startRig({
    timing: { bodyMs: 600_000, slowBodyMs: 200 },
    limits: { slowBodiesPerAddress: 1 },
  });
  rig.controller.serve = (request, response) => {
    if (request.url === "/v1/builds") response.writeHead(413).end("{}");
    else request.resume().once("end", () => response.end());
  };
  for (const path of ["/healthz", "/v1/builds", "/internal/x"]) {
    const { socket, answer } = begin(rig.gateway.port, path);
    socket.on("error", () => undefined);
    await answer;
    if (!socket.destroyed) await once(socket, "close");
  }
  const both = [1, 2].map(() => begin(rig.gateway.port, "/v1/builds/uploads/1"));
  const refused = await Promise.race(both.map(async (each) => ({ each, line: await each.answer })));
  assert.equal(refused.line, "HTTP/1.1 408 Request Timeout");
  const kept = both.find((each) => each !== refused.each);
  kept?.socket.write(" ".repeat(99));
  assert.equal(await kept?.answer, "HTTP/1.1 200 OK");
  kept?.socket.destroy();
});

test("a body that does not come is waited for nowhere", { timeout: 30_000 }, async () => {
  await using rooms = await startRooms({ isSilent: true });
  await using rig = await startRig({ timing: { bodyMs: 300 } });
  rig.gateway.setRoomServer(rooms.address);
  const socket = connect(rig.gateway.port, "127.0.0.1");
  socket.write(`GET /rtc/validate HTTP/1.1\r\n${HEAD}`);
  const [text] = (await once(socket.setEncoding("utf8"), "data")) as [string];
  assert.match(text, /^HTTP\/1.1 408 /);
  await once(socket, "close");
});

async function startRooms({ isSilent = false } = {}): Promise<AsyncDisposable & { address: string }> {
  const server = createServer((_request, response) => (isSilent ? undefined : response.end("success")));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await promisify(server.close.bind(server))();
    },
  };
}

test(
  "an answer before the end of the body leaves no connection to the controller behind",
  { timeout: 30_000 },
  async () => {
    await using rig = await startRig({ timing: { bodyMs: 300 } });
    const open = new Set<Socket>();
    const asked: string[] = [];
    rig.controller.serve = (request, response) => {
      const { socket } = request;
      asked.push(request.url ?? "");
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      if (request.url?.endsWith("/slow")) request.resume().once("end", () => response.end());
      else response.writeHead(413).end("{}");
    };
    const calls = Array.from({ length: 10 }, (_, index) =>
      begin(rig.gateway.port, index % 2 === 0 ? "/v1/builds" : "/auth/slow"),
    );
    for (const { socket, answer } of calls) {
      await answer;
      socket.destroy();
    }
    assert.equal(asked.length, calls.length);
    while (open.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  },
);

test(
  "a body that has come is not slow, however long the controller is away",
  { timeout: 30_000 },
  async () => {
    await using rig = await startRig({
      timing: { bodyMs: 300, slowBodyMs: 100, controllerAwayMs: 20_000 },
      limits: { slowBodiesPerAddress: 1 },
    });
    await rig.controller.kill();
    const asked = Array.from({ length: 3 }, () =>
      rig.fetch("/v1/public/parrot/start", { method: "POST", body: "{}" }),
    );
    await new Promise((resolve) => setTimeout(resolve, 600));
    rig.controller.serve = (request, response) => void request.resume().once("end", () => response.end());
    await rig.controller.start();
    assert.deepEqual(
      (await Promise.all(asked)).map(({ status }) => status),
      [200, 200, 200],
    );
  },
);

test("requests behind one another are nothing to warn of", { timeout: 30_000 }, async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", note);
  await using rig = await startRig();
  const answered = Promise.withResolvers<void>();
  rig.controller.serve = (request, response) =>
    void request.resume().once("end", () => void answered.promise.then(() => response.end()));
  const socket = connect(rig.gateway.port, "127.0.0.1");
  socket.write(`POST /v1/agents HTTP/1.1\r\n${HEAD}${" ".repeat(99)}`.repeat(20));
  await pause(200);
  answered.resolve();
  await once(socket, "data");
  socket.destroy();
  process.off("warning", note);
  assert.deepEqual(warnings, []);
});

test("one address has only so many connections", () => {
  const server = new EventEmitter();
  limitConnectionsPerAddress(server as Server, { max: 2 });
  const arrive = (remoteAddress: string) => {
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress,
      isCut: false,
      destroy: () => void (socket.isCut = true),
    });
    server.emit("connection", socket);
    return socket;
  };
  const [first, second, third] = [1, 2, 3].map(() => arrive("203.0.113.7"));
  assert.deepEqual([first?.isCut, second?.isCut, third?.isCut], [false, false, true]);
  assert.equal(arrive("203.0.113.8").isCut, false);
  first?.emit("close");
  assert.equal(arrive("203.0.113.7").isCut, false);
  assert.ok(![1, 2, 3].some(() => arrive("::ffff:127.0.0.1").isCut));
});
