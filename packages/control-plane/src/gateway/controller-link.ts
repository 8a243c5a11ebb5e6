import { AppError } from "@vocalhost/protocol";
import { Agent, request, type ClientRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { z } from "zod";
import type { Answer } from "./answers.ts";
import type { GatewayTiming } from "./gateway-options.ts";
import type { RawHeaders } from "./headers.ts";

/** The way to the controller, which may be away for a moment. */
export interface ControllerLink extends Disposable {
  /** A request whose connection stands; nothing of it has been sent. Waits for a controller that is away. */
  open(options: OpenOptions): Promise<ClientRequest>;
  /** Asks a question of the private interface. */
  ask<T>(path: string, question: object, schema: z.ZodType<T>, wait?: AskOptions): Promise<Told<T>>;
  /** Tells it something; whether it was heard does not matter. */
  tell(path: string, news: object): void;
}

export interface OpenOptions {
  method: string;
  path: string;
  headers: RawHeaders;
  signal?: AbortSignal;
  /** @default controllerAwayMs */
  awayMs?: number;
}

export interface AskOptions {
  signal?: AbortSignal;
  awayMs?: number;
}

/** `unreachable`: there was no answer, or a 5xx. */
export type Told<T> =
  | { kind: "answer"; value: T }
  | { kind: "refusal"; answer: Answer }
  | { kind: "unreachable"; answer?: Answer };

export function createControllerLink(socketPath: string, timing: GatewayTiming): ControllerLink {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: FREE_SOCKETS_MAX });
  const away = createReturnWatch(socketPath);

  async function open(options: OpenOptions): Promise<ClientRequest> {
    const { method, path, headers, signal } = options;
    const giveUpAtMs = performance.now() + (options.awayMs ?? timing.controllerAwayMs);
    for (;;) {
      try {
        return await connected(request({ socketPath, agent, method, path, headers, signal, setHost: false }));
      } catch (error) {
        const leftMs = giveUpAtMs - performance.now();
        if (!isAway(error) || leftMs <= 0 || signal?.aborted) throw unavailable(error);
        await away.back(leftMs);
      }
    }
  }

  async function ask<T>(
    path: string,
    question: object,
    schema: z.ZodType<T>,
    wait: AskOptions = {},
  ): Promise<Told<T>> {
    let told: Answer;
    try {
      const body = JSON.stringify(question);
      const upstream = await open({ method: "POST", path, headers: jsonHeaders(body), ...wait });
      told = await exchange(upstream, body, timing.controllerAnswerMs);
    } catch {
      return { kind: "unreachable" };
    }
    if (told.status >= 500) return { kind: "unreachable", answer: told };
    if (told.status >= 300) return { kind: "refusal", answer: told };
    const parsed = schema.safeParse(parseJson(told.body));
    return parsed.success ? { kind: "answer", value: parsed.data } : { kind: "unreachable" };
  }

  return {
    open,
    ask,
    tell(path, news) {
      const body = JSON.stringify(news);
      open({ method: "POST", path, headers: jsonHeaders(body) })
        .then((upstream) => exchange(upstream, body, timing.controllerAnswerMs))
        .catch(() => undefined);
    },
    [Symbol.dispose]() {
      agent.destroy();
    },
  };
}

/** The controller was not there, so it cannot have seen anything of the request. */
export function isAway(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ECONNREFUSED" || code === "ENOENT" || code === "EAGAIN";
}

export function unavailable(cause: unknown): AppError {
  return new AppError("SERVICE_UNAVAILABLE", { cause });
}

const FREE_SOCKETS_MAX = 64;
const LOOK_AGAIN_MS = 50;
const ANSWER_MAX_BYTES = 256 * 1024;

function connected(upstream: ClientRequest): Promise<ClientRequest> {
  return new Promise((resolve, reject) => {
    upstream.on("error", reject);
    upstream.once("socket", (socket) => {
      if (socket.connecting) socket.once("connect", () => resolve(upstream));
      else resolve(upstream);
    });
  });
}

/** One probe for everyone who waits, so that a crowd does not hammer a controller that is coming up. */
function createReturnWatch(socketPath: string): { back(timeoutMs: number): Promise<void> } {
  let waiting: (() => void)[] = [];
  let looking = false;

  function look(): void {
    if (waiting.length === 0) return void (looking = false);
    looking = true;
    const probe = connect(socketPath);
    const settle = (isBack: boolean): void => {
      probe.destroy();
      if (!isBack) return void setTimeout(look, LOOK_AGAIN_MS);
      looking = false;
      const all = waiting;
      waiting = [];
      for (const wake of all) wake();
    };
    probe.once("connect", () => settle(true));
    probe.once("error", () => settle(false));
  }

  return {
    back(timeoutMs) {
      return new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          waiting = waiting.filter((other) => other !== wake);
          resolve();
        };
        const timer = setTimeout(wake, timeoutMs);
        waiting.push(wake);
        if (!looking) look();
      });
    },
  };
}

function exchange(upstream: ClientRequest, body: string, timeoutMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = (error?: Error): void => {
      clearTimeout(timer);
      upstream.destroy();
      reject(error ?? new Error("The controller broke off"));
    };
    const timer = setTimeout(fail, timeoutMs);
    if (upstream.destroyed) return fail();
    upstream.once("error", fail);
    const broken = (): void => fail();
    upstream.once("close", broken);
    upstream.once("response", (response) => {
      upstream.off("close", broken); // the answer has a fate of its own
      readAll(response).then((text) => {
        clearTimeout(timer);
        resolve({ status: response.statusCode ?? 500, headers: answerHeaders(response), body: text });
      }, fail);
    });
    upstream.end(body);
  });
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_MAX_BYTES) throw new Error("The controller's answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function answerHeaders({ headers }: IncomingMessage): RawHeaders {
  const kept: RawHeaders = ["content-type", headers["content-type"] ?? "application/json; charset=utf-8"];
  const retryAfter = headers["retry-after"];
  if (retryAfter !== undefined) kept.push("retry-after", retryAfter);
  return kept;
}

function jsonHeaders(body: string): RawHeaders {
  return [
    "host",
    "controller",
    "content-type",
    "application/json",
    "content-length",
    String(Buffer.byteLength(body)),
  ];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
