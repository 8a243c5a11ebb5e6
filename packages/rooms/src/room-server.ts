import { CreateRoomRequest, DisconnectReason, type Room as RoomInfo } from "@livekit/protocol";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import type { Duplex } from "node:stream";
import type { Attendance } from "./attendance.ts";
import type { Log } from "./log.ts";
import { createMediaEvents } from "./media-events.ts";
import { startMediaHost, type MediaHost } from "./media/media-host.ts";
import type { MediaSettings } from "./media/messages.ts";
import { createRoom } from "./room-methods.ts";
import { createRoomService } from "./room-service.ts";
import { createRoomTable } from "./room-table.ts";
import { createRtcEndpoint, type RtcEndpoint } from "./rtc-endpoint.ts";
import {
  type BotDoor,
  DEFAULT_LIMITS,
  DEFAULT_TIMING,
  type RoomServerOptions,
  type RoomSettings,
} from "./settings.ts";

/** A room server that every LiveKit SDK can join. */
export interface RoomServer extends AsyncDisposable {
  /** The address participants connect to: `ws://…`. Undefined when the server does not listen and no public URL is set. */
  readonly url: string | undefined;
  /** Where media is now; a free one may change when the media process had to be started again. */
  readonly udpPort: number;
  /** Answers requests to a room server; false leaves the request to the caller. */
  handleRequest(request: IncomingMessage, response: ServerResponse): boolean;
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  listRooms(): RoomInfo[];
  /** Throws a `ServiceError` when there is no space or the name is none. */
  createRoom(wanted: NewRoom): RoomInfo;
  /** Removes all participants. A room that does not exist is no error. */
  deleteRoom(name: string): void;
}

export interface NewRoom {
  name: string;
  maxParticipants?: number | undefined;
  /** Seconds until the room closes when no participant has come, and when the last one has left. */
  emptyTimeout?: number | undefined;
  departureTimeout?: number | undefined;
  metadata?: string | undefined;
}

const DEFAULT_PORT = 7880;
const DEFAULT_UDP_PORT = 7882;

export async function startRoomServer(options: RoomServerOptions): Promise<RoomServer> {
  const log = options.log ?? SILENT;
  const settings = toSettings(options);
  await using stack = new AsyncDisposableStack(); // undoes a half-finished start
  const attendances = new Map<string, Attendance>();
  const events = createMediaEvents(attendances);
  let media: MediaHost | undefined;
  const table = createRoomTable({
    settings,
    log,
    media: (command) => media?.send(command),
    left({ sid }) {
      const attendance = attendances.get(sid);
      if (!attendance) return;
      attendances.delete(sid);
      attendance.ended();
      events.forget(attendance);
    },
  });
  let udpPort = 0;
  media = stack.use(
    await startMediaHost({
      log,
      async settings() {
        // Anew for every process: another program may have taken the free port by the time a second process starts.
        udpPort = await chooseUdpPort(options.media?.udpPort ?? DEFAULT_UDP_PORT);
        return mediaSettings(options, { udpPort, settings });
      },
      receive: (event) => events.receive(event),
      lost: () => table.reconnectAll(),
    }),
  );
  const rtc = createRtcEndpoint({ table, attendances, log });
  const service = createRoomService({ table, log });
  const handlers = {
    handleRequest: (request: IncomingMessage, response: ServerResponse): boolean =>
      rtc.handleRequest(request, response) || service.handleRequest(request, response),
    handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer): boolean =>
      rtc.handleUpgrade(request, socket, head),
  };
  const address = options.listen === false ? undefined : stack.use(await listen(handlers, options));
  if (options.bots)
    stack.use(await openBotDoor({ rtc, door: options.bots, mediaAddress: options.media?.bindAddress }));
  stack.use(rtc);
  stack.defer(() => table.close(DisconnectReason.SERVER_SHUTDOWN)); // first: participants get a message
  const owned = stack.move();
  return {
    url: options.publicUrl ?? address?.url,
    get udpPort() {
      return udpPort;
    },
    ...handlers,
    listRooms: () => [...table.rooms.values()].map((room) => room.info()),
    createRoom: (wanted) => createRoom(table, new CreateRoomRequest(wanted)).info(),
    deleteRoom: (name) => table.delete(name),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function toSettings(options: RoomServerOptions): RoomSettings {
  return {
    apiKey: options.apiKey,
    apiSecret: options.apiSecret,
    audience: options.audience,
    iceServers: options.iceServers ?? [],
    turn: options.turn,
    keepsDeletedClosed: options.keepsDeletedClosed ?? false,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    timing: { ...DEFAULT_TIMING, ...options.timing },
  };
}

function mediaSettings(
  { media = {} }: RoomServerOptions,
  { udpPort, settings }: { udpPort: number; settings: RoomSettings },
): MediaSettings {
  return {
    udpPort,
    bindAddress: media.bindAddress,
    announcedAddress: media.announcedAddress,
    allowPrivateCandidates: media.allowPrivateCandidates ?? false,
    maxDataBytes: settings.limits.dataBytes,
    levelIntervalMs: settings.timing.levelIntervalMs,
  };
}

type Handlers = Pick<RoomServer, "handleRequest" | "handleUpgrade">;

async function listen(
  { handleRequest, handleUpgrade }: Handlers,
  options: RoomServerOptions,
): Promise<AsyncDisposable & { url: string }> {
  const { host = "127.0.0.1", port = DEFAULT_PORT } = options.listen || {};
  const server = createServer((request, response) => {
    if (handleRequest(request, response)) return;
    response.writeHead(request.url === "/" ? 200 : 404, { "content-type": "text/plain" });
    response.end(request.url === "/" ? "OK" : "not found"); // "/" is the health check, as LiveKit has it
  });
  server.on("upgrade", (request, socket, head) => {
    if (!handleUpgrade(request, socket, head))
      socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
  });
  server.listen(port, host);
  await once(server, "listening");
  const { port: chosen, family, address } = server.address() as AddressInfo;
  return {
    url: `ws://${family === "IPv6" ? `[${address}]` : address}:${chosen}`,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

/** The media process needs a number; 0 stands for any free port. */
async function chooseUdpPort(wanted: number): Promise<number> {
  if (wanted !== 0) return wanted;
  const socket = createSocket("udp4");
  socket.bind(0);
  await once(socket, "listening");
  const { port } = socket.address();
  socket.close();
  await once(socket, "close");
  return port;
}

const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => SILENT,
};

const NOT_FOUND = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";

interface BotDoorOptions {
  rtc: RtcEndpoint;
  door: BotDoor;
  /** Where media is, when it is not on every address. */
  mediaAddress: string | undefined;
}

/**
 * Bridges of container engines come and go with their containers, so a server cannot bind to their addresses. This one
 * listens on all addresses and closes connections that came to another one.
 */
async function openBotDoor({ rtc, door, mediaAddress }: BotDoorOptions): Promise<AsyncDisposable> {
  const addresses = new Set(door.addresses);
  const server = createServer((request, response) => {
    if (!rtc.handleRequest(request, response)) response.writeHead(404).end();
  });
  server.on("connection", (socket) => {
    if (!addresses.has(plain(socket.localAddress))) socket.destroy();
  });
  server.on("upgrade", (request, socket, head) => {
    const reached = plain(request.socket.localAddress);
    if (!rtc.handleUpgrade(request, socket, head, mediaAddress ?? reached)) socket.end(NOT_FOUND);
  });
  server.listen(door.port, door.addresses.some((address) => isIPv6(address)) ? "::" : "0.0.0.0");
  await once(server, "listening");
  return { [Symbol.asyncDispose]: () => closeServer(server) };
}

/** A dual-stack socket reports IPv4 addresses as IPv6. */
function plain(address = ""): string {
  return address.replace(/^::ffff:/i, "");
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
