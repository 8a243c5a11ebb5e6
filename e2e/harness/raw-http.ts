import { request } from "node:http";
import { connect } from "node:net";
import { within } from "../../testing/wait.ts";

/** An answer, whatever made it. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** The body as JSON; fails when it is none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers freely
  json(): any;
}

export interface CallOptions {
  /** A string goes as it is, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Address to connect to, whatever `Host` says. @default 127.0.0.1 */
  address?: string;
}

const ANSWER_DEADLINE_MS = 15_000;

/** A request as scripts send it: no `Origin`, any `Host`. */
export function call(port: number, line: string, options: CallOptions = {}): Promise<Answer> {
  const [method = "GET", path = "/"] = line.split(" ");
  const { body } = options;
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const isJson = body !== undefined && typeof body !== "string";
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request(
    {
      host: options.address ?? "127.0.0.1",
      port,
      method,
      path,
      agent: false,
      headers: {
        host: `localhost:${port}`,
        ...(isJson ? JSON_TYPE : {}),
        ...lengthOf(text),
        ...options.headers,
      },
    },
    (response) => {
      let received = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (received += chunk));
      response.on("end", () =>
        resolve(toAnswer(response.statusCode ?? 0, response.headers as Record<string, string>, received)),
      );
      response.on("error", reject);
    },
  );
  sent.on("error", reject);
  sent.end(text);
  return within(promise, ANSWER_DEADLINE_MS, `answer to ${line}`);
}

export const JSON_TYPE = { "content-type": "application/json" };

export interface RawOptions {
  /** Gives what came until then, instead of failing when there is no whole answer. */
  atMostMs?: number;
}

/** Sends exactly these bytes and gives back what came until the answer was whole or the socket closed. */
export async function rawExchange(
  port: number,
  bytes: string | Buffer,
  options: RawOptions = {},
): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port });
  const { promise, resolve } = Promise.withResolvers<string>();
  let received = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    received += chunk;
    if (isWhole(received)) resolve(received);
  });
  socket.on("error", () => resolve(received)); // a reset is an answer too
  socket.on("close", () => resolve(received));
  socket.write(bytes);
  const { atMostMs } = options;
  const timer = atMostMs !== undefined && setTimeout(() => resolve(received), atMostMs);
  try {
    return await within(promise, ANSWER_DEADLINE_MS, "answer");
  } finally {
    if (timer) clearTimeout(timer);
    socket.destroy();
  }
}

/** Zero when nothing came. */
export function statusOf(raw: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(raw)?.[1] ?? 0);
}

export function parseAnswer(raw: string): Answer {
  const [head = "", ...rest] = raw.split("\r\n\r\n");
  const lines = head.split("\r\n").slice(1);
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
  return toAnswer(statusOf(raw), headers, rest.join("\r\n\r\n"));
}

function toAnswer(status: number, headers: Record<string, string>, body: string): Answer {
  return { status, headers, body, json: () => JSON.parse(body) as unknown };
}

function lengthOf(text: string | undefined): Record<string, string> {
  return text === undefined ? {} : { "content-length": String(Buffer.byteLength(text)) };
}

function isWhole(received: string): boolean {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return false;
  if (statusOf(received) === 101) return true;
  const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, end))?.[1];
  return length !== undefined && received.length >= end + 4 + Number(length);
}
