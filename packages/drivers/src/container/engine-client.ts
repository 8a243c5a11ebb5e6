import { request, type IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

/** Docker's HTTP interface at a socket, which Podman has too. */
export interface EngineClient {
  /** Sends a command. Its answer is ignored, and with Podman not always JSON. */
  tell(question: EngineQuestion): Promise<void>;
  /** Returns the answer, parsed from JSON. */
  ask<Answer>(question: EngineQuestion): Promise<Answer>;
  /** Returns the bytes of the answer. */
  bytes(question: EngineQuestion): Promise<Buffer>;
  /** Returns an answer that goes on while the engine works. It also ends with the signal. */
  stream(question: EngineQuestion): Promise<IncomingMessage>;
}

export interface EngineQuestion {
  /** @default GET */
  method?: "GET" | "POST" | "DELETE";
  path: string;
  /** Objects are written as JSON, as `filters` are to be. */
  query?: Record<string, string | number | boolean | object>;
  /** Sent as JSON, or an archive. */
  body?: object | Readable;
  /** Credentials for the registry of an image that is pulled or pushed. */
  credentials?: EngineCredentials | undefined;
  signal: AbortSignal;
}

export interface EngineCredentials {
  username: string;
  password: string;
  serveraddress?: string;
}

const REFUSAL_MAX_CHARACTERS = 64 * 1024;

export function createEngineClient(socketPath: string): EngineClient {
  async function stream(question: EngineQuestion): Promise<IncomingMessage> {
    const answer = await send(socketPath, question);
    const { statusCode = 0 } = answer;
    if (statusCode >= 200 && statusCode < 300) return answer;
    throw Object.assign(new Error(await readRefusal(answer)), { statusCode });
  }

  async function bytes(question: EngineQuestion): Promise<Buffer> {
    return Buffer.concat(await (await stream(question)).toArray());
  }

  return {
    stream,
    bytes,
    tell: async (question) => void (await bytes(question)),
    ask: async <Answer>(question: EngineQuestion) =>
      JSON.parse((await bytes(question)).toString("utf8")) as Answer,
  };
}

function send(socketPath: string, question: EngineQuestion): Promise<IncomingMessage> {
  const { method = "GET", path, query, body, credentials, signal } = question;
  const archive = body !== undefined && "pipe" in body ? body : undefined;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(
    {
      socketPath,
      method,
      path: query === undefined ? path : `${path}?${toQuery(query)}`,
      headers: {
        ...(body === undefined ? {} : { "content-type": archive ? "application/x-tar" : "application/json" }),
        ...(credentials === undefined ? {} : { "x-registry-auth": toHeader(credentials) }),
      },
      signal,
    },
    resolve,
  );
  sent.on("error", reject);
  if (archive) archive.once("error", (error) => sent.destroy(error)).pipe(sent);
  else sent.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

function toQuery(query: NonNullable<EngineQuestion["query"]>): string {
  const written = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === "object" ? JSON.stringify(value) : String(value),
  ]);
  return new URLSearchParams(written).toString();
}

// Padded: Docker takes no other.
function toHeader(credentials: EngineCredentials): string {
  const text = Buffer.from(JSON.stringify(credentials)).toString("base64");
  return text.replaceAll("+", "-").replaceAll("/", "_");
}

async function readRefusal(answer: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of answer.setEncoding("utf8"))
    if (text.length < REFUSAL_MAX_CHARACTERS) text += String(part);
  try {
    const { message, cause } = JSON.parse(text) as { message?: string; cause?: string };
    return message ?? cause ?? text;
  } catch {
    return text.trim() || (answer.statusMessage ?? "");
  }
}
