import { AppError, FOREIGN_CODE_HEADER, foreignCodeOf, isAppError } from "@vocalhost/protocol";
import { STATUS_CODES, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { corsHeaders } from "./cors.ts";
import type { RawHeaders } from "./headers.ts";
import { afterUnreadBody } from "./request-body.ts";

/** An answer of the gateway itself, or one of the controller passed on unchanged. */
export interface Answer {
  status: number;
  headers: RawHeaders;
  body: string;
}

export function toAnswer(error: unknown): Answer {
  const known = isAppError(error) ? error : new AppError("INTERNAL_SERVER_ERROR", { cause: error });
  const foreignCode = foreignCodeOf(known.code);
  return {
    status: known.status,
    headers: [
      ...["content-type", "application/json; charset=utf-8"],
      ...(foreignCode === undefined ? [] : [FOREIGN_CODE_HEADER, foreignCode]),
      ...(known.retryable ? RETRY_AFTER : []),
    ],
    body: JSON.stringify(known.toBody()),
  };
}

/** Answers a request; destroys the connection if an answer has already begun. */
export function answer(response: ServerResponse, path: string, { status, headers, body }: Answer): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  response.writeHead(status, [
    ...headers,
    ...["content-length", String(Buffer.byteLength(body)), "x-content-type-options", "nosniff"],
    ...corsHeaders(path),
    ...afterUnreadBody(response),
  ]);
  response.end(body);
}

/** Answers instead of upgrading, then closes the connection. */
export function answerSocket(socket: Duplex, path: string, { status, headers, body }: Answer): void {
  if (socket.destroyed) return;
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Refused"}`];
  const all = [
    ...headers,
    ...["content-length", String(Buffer.byteLength(body)), "x-content-type-options", "nosniff"],
    ...corsHeaders(path),
    ...["connection", "close"],
  ];
  for (let index = 0; index + 1 < all.length; index += 2) lines.push(`${all[index]}: ${all[index + 1]}`);
  socket.once("finish", () => socket.destroy());
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`, "utf8");
}

const RETRY_AFTER = ["retry-after", "1"];
const LINGER_MS = 2_000; // for a client that does not read its refusal
