import { mkdtemp, rm } from "node:fs/promises";
import { request, type IncomingMessage, type RequestOptions } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket, type ClientOptions } from "ws";
import type { GatewayOptions } from "../gateway-options.ts";
import { startGateway, type Gateway } from "../start-gateway.ts";
import { startFakeController, type FakeController } from "./fake-controller.ts";

/** A gateway with a controller whose answers the test sets. */
export interface Rig extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly controller: FakeController;
  readonly log: { message: string; fields: Record<string, unknown> }[];
  /** Sends a request and reads the whole answer. */
  fetch(path: string, options?: RequestOptions & { body?: string | Buffer }): Promise<Fetched>;
  open(path: string, options?: ClientOptions & { protocols?: string[] }): Promise<WebSocket>;
  /** The answer that came instead of an upgrade. */
  refused(path: string, options?: ClientOptions): Promise<Fetched>;
  /** Sends raw bytes and reads until the connection ends. */
  raw(bytes: string | Buffer): Promise<string>;
}

export interface Fetched {
  status: number;
  headers: IncomingMessage["headers"];
  body: string;
}

export const SESSION = "0a7ec52e-7a4f-4a0e-9d3c-000000000001";
export const SESSION_PATH = `/v1/public/parrot/sessions/${SESSION}`;

export async function startRig(options: Partial<GatewayOptions> = {}): Promise<Rig> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "gateway-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const controllerSocket = join(folder, "controller.sock");
  const controller = stack.use(await startFakeController(controllerSocket));
  const log: Rig["log"] = [];
  const write = (fields: object, message: string): void => void log.push({ message, fields: { ...fields } });
  const gateway = stack.use(
    await startGateway({
      host: "127.0.0.1",
      port: 0,
      controllers: { socket: controllerSocket },
      log: { debug: write, info: write, warn: write, error: write },
      ...options,
      timing: { disposeMs: 100, goodbyeMs: 500, ...options.timing },
    }),
  );
  const owned = stack.move();
  const socketUrl = gateway.url.replace("http", "ws");
  return {
    gateway,
    controller,
    log,
    fetch: (path, init = {}) => fetchFrom(gateway.port, path, init),
    open(path, { protocols = [], ...init } = {}) {
      const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
      const socket = new WebSocket(socketUrl + path, protocols, { perMessageDeflate: false, ...init });
      socket.once("open", () => resolve(socket)).on("error", reject);
      return promise;
    },
    refused(path, init = {}) {
      const { promise, resolve, reject } = Promise.withResolvers<Fetched>();
      const socket = new WebSocket(socketUrl + path, init);
      socket.on("error", reject).once("open", () => reject(new Error("It was let in")));
      socket.once("unexpected-response", (_request, told) => void readAll(told).then(resolve, reject));
      return promise;
    },
    raw: (bytes) => sendRaw(gateway.port, bytes),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Returns the next message or close of a socket as one word. */
export function nextOf(socket: WebSocket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.once("message", (data: Buffer, isBinary) =>
    resolve(isBinary ? data.toString("hex") : data.toString()),
  );
  socket.once("close", (code, reason) => resolve(`closed ${code} ${reason.toString()}`));
  return promise;
}

export function closedOf(socket: WebSocket): Promise<{ code: number; reason: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string }>();
  socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  return promise;
}

function fetchFrom(
  port: number,
  path: string,
  { body, ...init }: RequestOptions & { body?: string | Buffer },
): Promise<Fetched> {
  const { promise, resolve, reject } = Promise.withResolvers<Fetched>();
  const sent = request({ host: "127.0.0.1", port, path, agent: false, ...init });
  sent.once("response", (told) => void readAll(told).then(resolve, reject)).on("error", reject);
  sent.end(body);
  return promise;
}

async function readAll(told: IncomingMessage): Promise<Fetched> {
  let body = "";
  for await (const chunk of told) body += String(chunk);
  return { status: told.statusCode ?? 0, headers: told.headers, body };
}

function sendRaw(port: number, bytes: string | Buffer): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  socket.on("error", () => undefined).once("close", () => resolve(text));
  return promise;
}
