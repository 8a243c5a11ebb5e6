import { AppError, parseJson } from "@vocalhost/protocol";
import type { ClientRequest, IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import type { z } from "zod";
import type { Answer } from "./answers.ts";
import type { Controllers, Needs } from "./controllers.ts";
import type { GatewayTiming } from "./gateway-options.ts";
import type { RawHeaders } from "./headers.ts";

/** Sends requests to the controller, which may be unreachable for a moment. */
export interface ControllerLink {
  /** Opens a connected request of which nothing was sent yet. Waits while the controller is unreachable. */
  open(options: OpenOptions): Promise<ClientRequest>;
  /** Sends a request to the private interface. */
  ask<T>(path: string, question: object, schema: z.ZodType<T>, wait?: AskOptions): Promise<Told<T>>;
  /** Sends a notification; errors are ignored. */
  tell(path: string, news: object): void;
}

export interface OpenOptions extends AskOptions {
  method: string;
  path: string;
  headers: RawHeaders;
}

export interface AskOptions {
  /** @default "leader" */
  needs?: Needs;
  signal?: AbortSignal;
  /** @default controllerAwayMs */
  awayMs?: number;
}

/** `unreachable`: there was no answer, or a 5xx. */
export type Told<T> =
  | { kind: "answer"; value: T }
  | { kind: "refusal"; answer: Answer }
  | { kind: "unreachable"; answer?: Answer };

export function createControllerLink(controllers: Controllers, timing: GatewayTiming): ControllerLink {
  async function open(options: OpenOptions): Promise<ClientRequest> {
    const { method, path, headers, signal, needs = "leader" } = options;
    const giveUpAtMs = performance.now() + (options.awayMs ?? timing.controllerAwayMs);
    for (;;) {
      let cause: unknown;
      try {
        const door = controllers.pick(needs);
        const upstream = door?.request({ method, path, headers, signal, setHost: false });
        if (upstream) return await connected(upstream, timing.controllerConnectMs);
      } catch (error) {
        cause = error; // nothing was sent, so a retry is safe
      }
      const leftMs = giveUpAtMs - performance.now();
      if (leftMs <= 0 || signal?.aborted) throw unavailable(cause);
      await controllers.changed(Math.min(leftMs, timing.controllerLookMs));
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
  };
}

export function unavailable(cause: unknown): AppError {
  return new AppError("SERVICE_UNAVAILABLE", { cause });
}

const ANSWER_MAX_BYTES = 256 * 1024;

function connected(upstream: ClientRequest, timeoutMs: number): Promise<ClientRequest> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => upstream.destroy(new Error("The connection took too long")), timeoutMs);
    const stands = (): void => {
      clearTimeout(timer);
      resolve(upstream);
    };
    upstream.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    upstream.once("socket", (socket) => {
      if (!socket.connecting) return stands();
      socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", stands);
    });
  });
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
      upstream.off("close", broken); // errors of the answer are handled separately
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
