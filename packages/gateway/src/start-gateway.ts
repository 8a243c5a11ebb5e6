import { AppError } from "@vocalhost/protocol";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { hostname } from "node:os";
import type { Duplex } from "node:stream";
import { logAccess } from "./access-log.ts";
import { answer, answerSocket, toAnswer } from "./answers.ts";
import { takeIngressSocket } from "./carrier-ingress.ts";
import { clientAddress } from "./client-address.ts";
import { checkUpgradeRequest, holdClient, KEEP_ALIVE_MS } from "./client-socket.ts";
import { limitConnectionsPerAddress } from "./connections-per-address.ts";
import { openPeerCredentials } from "@vocalhost/base/peers/peer-credentials";
import { createControllerLink } from "./controller-link.ts";
import { createLocalController, type Controllers } from "./controllers.ts";
import { openNetworkControllers } from "./network-controllers.ts";
import { answerPreflight, isPreflight } from "./cors.ts";
import {
  defaultGatewayLimits,
  defaultGatewayTiming,
  type GatewayLimits,
  type GatewayOptions,
  type GatewayTiming,
} from "./gateway-options.ts";
import { valuesOf } from "./headers.ts";
import { isIngressPath } from "./ingress-address.ts";
import { relayToController, type ControllerRelay } from "./relay-to-controller.ts";
import { isRoomPath, relayToRooms, takeRoomSocket } from "./relay-to-rooms.ts";
import { relayToSession } from "./relay-to-session.ts";
import { createRelayedSockets, type RelayedSockets } from "./relayed-sockets.ts";
import { hasBody } from "./request-body.ts";
import {
  isInternal,
  isUpload,
  parseRequestPath,
  parseSessionPath,
  type RequestPath,
} from "./request-path.ts";
import { createSessionRoutes } from "./session-routes.ts";
import { takeSessionSocket, type SocketEnd, type SocketRelay } from "./session-socket.ts";
import { createSlowBodies, type SlowBodies } from "./slow-bodies.ts";
import { tellFigures } from "./tell-figures.ts";

/** Owns the public port: relays requests to the controller and calls to their instances. */
export interface Gateway extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Sets the room server's address, `host:port`. */
  setRoomServer(address: string | undefined): void;
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const timing = { ...defaultGatewayTiming, ...options.timing };
  const limits = { ...defaultGatewayLimits, ...options.limits };
  await using stack = new AsyncDisposableStack();
  const controller = createControllerLink(openControllers(options, stack), timing);
  const relayed = createRelayedSockets(timing);
  const routes = createSessionRoutes({
    controller,
    freshMs: timing.routeFreshMs,
    routesMax: limits.routes,
  });
  const doors: Doors = {
    ...{ controller, routes, relayed, timing, limits, log: options.log },
    forwarding: {
      publicUrl: options.publicUrl === undefined ? undefined : new URL(options.publicUrl),
      trustForwarded: options.trustForwarded ?? false,
    },
    answerMs: timing.controllerAnswerMs,
    slowBodies: createSlowBodies(timing, limits),
    roomServer: undefined,
  };
  const server = createHttpServer(timing, limits);
  if (!doors.forwarding.trustForwarded)
    limitConnectionsPerAddress(server, { max: limits.connectionsPerAddress });
  server.on("request", (request, response) => void takeRequest(doors, request, response));
  server.on("upgrade", (request, socket, head) => void takeUpgrade(doors, request, socket as Socket, head));
  const upgraded = new Set<Socket>();
  server.on("upgrade", (_request, socket: Socket) => {
    upgraded.add(socket);
    socket.once("close", () => upgraded.delete(socket));
  });
  server.listen({ host: options.host, port: options.port });
  await once(server, "listening");
  stack.defer(() => closeServer(server, { relayed, upgraded, timing }));
  const { address, port, family } = server.address() as AddressInfo;
  const name = "socket" in options.controllers ? undefined : `${hostname()}:${port}`;
  stack.use(tellFigures({ server, controller, relayed, restarts: options.restarts ?? 0, limits, name }));
  const owned = stack.move();
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    port,
    setRoomServer: (found) => void (doors.roomServer = found),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function openControllers(
  { controllers, log }: GatewayOptions,
  stack: Pick<AsyncDisposableStack, "use">,
): Controllers {
  if ("socket" in controllers) return stack.use(createLocalController(controllers.socket));
  const credentials = stack.use(openPeerCredentials(controllers.files, { log }));
  return stack.use(openNetworkControllers({ addresses: controllers.addresses, credentials, log }));
}

interface Doors extends SocketRelay, ControllerRelay {
  log: GatewayOptions["log"];
  slowBodies: SlowBodies;
  roomServer: string | undefined;
}

async function takeRequest(doors: Doors, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const startedAtMs = performance.now();
  const path = parseRequestPath(request.url ?? "");
  const method = request.method ?? "";
  response.once("close", () => {
    const status = response.writableFinished ? response.statusCode : CUT;
    logAccess(doors.log, { method, path, status, startedAtMs });
  });
  response.on("error", () => undefined); // a disconnected client needs no answer
  request.on("error", () => undefined);
  watchBody(doors, request, response, path);
  try {
    await route(doors, request, response, path);
  } catch (error) {
    if (!(error instanceof AppError)) doors.log.error({ error }, "request failed");
    answer(response, path?.raw ?? "", toAnswer(error));
  }
}

/** Runs before any decision: a slow body behind a refusal holds the connection as well. */
function watchBody(
  { slowBodies, forwarding }: Doors,
  request: IncomingMessage,
  response: ServerResponse,
  path: RequestPath | undefined,
): void {
  if (!hasBody(request)) return;
  slowBodies.watch(request, {
    address: clientAddress(request, forwarding),
    mayTakeLong: path !== undefined && (parseSessionPath(path) !== undefined || isUpload(path)),
    tooSlow: () => refuseSlowBody(response, path?.raw ?? ""),
  });
}

function route(
  doors: Doors,
  request: IncomingMessage,
  response: ServerResponse,
  path: RequestPath | undefined,
): Promise<void> | void {
  if (!path) throw new AppError("GENERIC_BAD_REQUEST", { message: "The address is not valid" });
  if (isInternal(path)) throw new AppError("NOT_FOUND");
  if (valuesOf(request.rawHeaders, "host").length > 1)
    throw new AppError("GENERIC_BAD_REQUEST", { message: "There is more than one Host" });
  if (path.raw === "/healthz") return answer(response, path.raw, HEALTHY);
  if (isIngressPath(path))
    throw new AppError("GENERIC_BAD_REQUEST", { message: "This address takes WebSockets only" });
  if (isRoomPath(path))
    return relayToRooms(request, response, {
      path,
      address: doors.roomServer,
      timeoutMs: doors.timing.instanceUpgradeMs,
    });
  if (isPreflight(request, path.raw)) return answerPreflight(response);
  const session = parseSessionPath(path);
  if (session) return relayToSession(doors, request, response, { ...path, ...session });
  return relayToController(doors, request, response, path);
}

async function takeUpgrade(
  doors: Doors,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  const startedAtMs = performance.now();
  const path = parseRequestPath(request.url ?? "");
  const end = await routeUpgrade(doors, { request, socket, head, path }).catch(
    (error: unknown): SocketEnd => {
      if (!(error instanceof AppError)) doors.log.error({ error }, "upgrade failed");
      const told = toAnswer(error);
      answerSocket(socket, path?.raw ?? "", told);
      return { status: told.status };
    },
  );
  logAccess(doors.log, { method: request.method ?? "", path, startedAtMs, ...end });
}

interface Upgrade {
  request: IncomingMessage;
  socket: Socket;
  head: Buffer;
  path: RequestPath | undefined;
}

async function routeUpgrade(doors: Doors, { request, socket, head, path }: Upgrade): Promise<SocketEnd> {
  socket.on("error", () => undefined);
  if (!path) throw new AppError("GENERIC_BAD_REQUEST", { message: "The address is not valid" });
  const session = parseSessionPath(path);
  const isRoom = isRoomPath(path);
  if (!session && !isRoom && !isIngressPath(path)) throw new AppError("NOT_FOUND");
  checkUpgradeRequest(request);
  const client = holdClient({ request, socket, head, keepBytes: doors.limits.openingBytes });
  if (isRoom) return takeRoomSocket(doors, client, { path, address: doors.roomServer });
  return session
    ? takeSessionSocket(doors, client, { ...path, ...session })
    : takeIngressSocket(doors, client, path);
}

function refuseSlowBody(response: ServerResponse, path: string): void {
  const told = toAnswer(
    new AppError("GENERIC_BAD_REQUEST", { message: "The request's body came too slowly" }),
  );
  answer(response, path, { ...told, status: 408 });
  response.req.socket.destroySoon(); // discards further data
}

const HEALTHY = { status: 200, headers: ["content-type", "application/json"], body: '{"status":"ok"}' };
const CUT = 499; // only in the access log

function createHttpServer(timing: GatewayTiming, limits: GatewayLimits): Server {
  const busy = new WeakSet<Duplex>();
  const server = createServer({
    maxHeaderSize: limits.headBytes,
    headersTimeout: timing.headersMs,
    requestTimeout: timing.requestMs,
    keepAliveTimeout: timing.keepAliveMs,
    connectionsCheckingInterval: 1_000,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
    noDelay: true,
    // Upgrades to other protocols are treated as ordinary requests. A socket with an answer in progress is not
    // relayed.
    shouldUpgradeCallback: (request) =>
      request.headers.upgrade?.toLowerCase() === "websocket" && !busy.has(request.socket),
  });
  server.maxConnections = limits.connections;
  server.timeout = timing.idleMs;
  server.prependListener("request", (request, response) => {
    busy.add(request.socket);
    response.once("close", () => busy.delete(request.socket));
  });
  // An event stream may be silent for long, but only if its client has read everything.
  server.on("timeout", (socket) => {
    if (!busy.has(socket) || socket.writableLength > 0) socket.destroy();
  });
  // Node's own refusal would leave the connection open for the body.
  server.on("checkExpectation", (_request, response: ServerResponse) => {
    const text = "Only 100-continue may be expected";
    const told = toAnswer(new AppError("GENERIC_BAD_REQUEST", { message: text }));
    answer(response, "", { ...told, status: 417 });
  });
  server.on("connect", (_request, socket) => {
    socket.on("error", () => undefined);
    answerSocket(socket, "", toAnswer(new AppError("METHOD_NOT_ALLOWED")));
  });
  server.on("clientError", refuseBytes);
  return server;
}

function refuseBytes(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const told = toAnswer(new AppError("GENERIC_BAD_REQUEST", { message: "The request is not valid HTTP" }));
  const status = CLIENT_ERRORS[error.code ?? ""] ?? 400;
  answerSocket(socket, "", { ...told, status });
}

const CLIENT_ERRORS: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

interface Closing {
  relayed: RelayedSockets;
  upgraded: Set<Socket>;
  timing: GatewayTiming;
}

async function closeServer(server: Server, { relayed, upgraded, timing }: Closing): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), timing.disposeMs);
  await relayed[Symbol.asyncDispose]();
  for (const socket of upgraded) socket.destroy(); // clients still waiting for an instance
  await closed;
  clearTimeout(timer);
}
