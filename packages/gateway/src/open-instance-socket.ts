import { AppError } from "@vocalhost/protocol";
import { createHash, randomBytes } from "node:crypto";
import { validateHeaderValue } from "node:http";
import { connect, type Socket } from "node:net";
import { tokensOf, valuesOf, type RawHeaders } from "./headers.ts";

/** An open WebSocket to an instance. */
export interface InstanceSocket {
  socket: Socket;
  /** Bytes that followed the instance's answer. */
  head: Buffer;
  protocol: string | undefined;
}

export interface OpenInstanceSocketOptions {
  /** `host:port` */
  address: string;
  token: string;
  path: string;
  /** The client's headers, already filtered. */
  headers: RawHeaders;
  protocols: string[];
  connectMs: number;
  upgradeMs: number;
  headBytes: number;
}

/** Opens a WebSocket to an instance by hand: only a 101 that is correct in every header is accepted. */
export async function openInstanceSocket(options: OpenInstanceSocketOptions): Promise<InstanceSocket> {
  const key = randomBytes(16).toString("base64");
  const socket = connect({ ...parseAddress(options.address), noDelay: true });
  socket.on("error", () => undefined); // callers handle "close"
  try {
    await settled(socket, "connect", options.connectMs);
    socket.write(upgradeRequest(options, key), "latin1");
    const { head, rest } = await readHead(socket, options.headBytes, options.upgradeMs);
    const protocol = checkUpgrade(head, { key, protocols: options.protocols });
    return { socket, head: rest, protocol };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

export function acceptFor(key: string): string {
  return createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
}

/** Throws unless the text is an address an instance can have. */
export function parseAddress(address: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (!match || port < 1 || port > 65_535) throw new AppError("INSTANCE_UNREACHABLE");
  return { host: match[1] ?? match[2] ?? "", port };
}

/** Returns the subprotocol the instance chose. Throws unless the answer matches the request. */
export function checkUpgrade(
  head: string,
  { key, protocols }: { key: string; protocols: string[] },
): string | undefined {
  const [statusLine = "", ...lines] = head.split("\r\n");
  const status = /^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1];
  if (status === "404") throw new AppError("NOT_FOUND", { message: "Service not found" });
  if (status !== "101") throw badUpgrade(`status ${status ?? "unreadable"}`);
  const raw: RawHeaders = [];
  for (const line of lines) {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line);
    if (!match) throw badUpgrade("a header line");
    raw.push(match[1] ?? "", match[2] ?? "");
  }
  const [upgrade, ...otherUpgrades] = valuesOf(raw, "upgrade");
  if (upgrade?.toLowerCase() !== "websocket" || otherUpgrades.length > 0) throw badUpgrade("Upgrade");
  if (!tokensOf(raw, "connection").includes("upgrade")) throw badUpgrade("Connection");
  const [accept, ...otherAccepts] = valuesOf(raw, "sec-websocket-accept");
  if (accept !== acceptFor(key) || otherAccepts.length > 0) throw badUpgrade("Sec-WebSocket-Accept");
  if (valuesOf(raw, "sec-websocket-extensions").length > 0) throw badUpgrade("an extension");
  if (valuesOf(raw, "transfer-encoding").length > 0) throw badUpgrade("a body");
  const [protocol, ...otherProtocols] = valuesOf(raw, "sec-websocket-protocol");
  if (otherProtocols.length > 0 || (protocol !== undefined && !protocols.includes(protocol)))
    throw badUpgrade("Sec-WebSocket-Protocol");
  return protocol;
}

function badUpgrade(what: string): AppError {
  return new AppError("INSTANCE_UNREACHABLE", { cause: new Error(`Wrong upgrade: ${what}`) });
}

function upgradeRequest(
  { address, token, path, headers, protocols }: OpenInstanceSocketOptions,
  key: string,
) {
  const all = [
    ...["Host", address, "Authorization", `Bearer ${token}`],
    ...["Connection", "Upgrade", "Upgrade", "websocket"],
    ...["Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", key],
    ...(protocols.length > 0 ? ["Sec-WebSocket-Protocol", protocols.join(", ")] : []),
    ...headers,
  ];
  const lines = [`GET ${path} HTTP/1.1`];
  for (let index = 0; index + 1 < all.length; index += 2) lines.push(`${all[index]}: ${all[index + 1]}`);
  for (const line of lines) validateHeaderValue("line", line); // values from a client must not inject lines
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Rejects if the socket ends first or the timeout passes; keeps the error of a failed connect. */
function settled(socket: Socket, event: "connect", timeoutMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(Object.assign(new Error("late"), { syscall: "connect" })), timeoutMs);
  socket.once(event, resolve);
  socket.once("error", reject);
  socket.once("close", () => reject(new Error("The instance broke off")));
  return promise.finally(() => clearTimeout(timer));
}

function readHead(
  socket: Socket,
  headBytes: number,
  timeoutMs: number,
): Promise<{ head: string; rest: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ head: string; rest: Buffer }>();
  let seen: Buffer = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    seen = Buffer.concat([seen, chunk]);
    const end = seen.indexOf("\r\n\r\n");
    if (end !== -1 && end <= headBytes)
      return resolve({ head: seen.toString("latin1", 0, end), rest: seen.subarray(end + 4) });
    if (seen.length > headBytes) reject(new Error("The instance's answer is too long"));
  };
  const broken = (): void => reject(new Error("The instance broke off"));
  const timer = setTimeout(() => reject(new Error("The instance does not answer")), timeoutMs);
  socket.on("data", onData).once("end", broken).once("close", broken);
  return promise.finally(() => {
    clearTimeout(timer);
    socket.pause();
    socket.off("data", onData).off("end", broken).off("close", broken);
  });
}
