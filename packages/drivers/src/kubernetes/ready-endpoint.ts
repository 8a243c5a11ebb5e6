import { ReadyReport } from "@vocalhost/protocol";
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { isIP, type AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "@vocalhost/base/log";

/** Takes reports of booting instances. They report that they listen half a second before the cluster does. */
export interface ReadyEndpoint extends AsyncDisposable {
  /** The URL for instances; undefined while the server does not listen. */
  readonly url: string | undefined;
}

export interface ReadyEndpointOptions {
  host: string;
  port: number;
  /** @default where it listens */
  url?: string | undefined;
  log: Log;
  /** Returns undefined if there is no such instance. */
  tokenOf(id: string): Promise<string | undefined>;
  listening(id: string, address: string): void;
  /** Called while the instance boots, with how long it has waited for the processor. */
  starved(id: string, starvedMs: number): void;
}

const BODY_MAX_BYTES = 1024;
const LISTEN_AGAIN_MS = 1_000; // the controller before this one has the port until it has ended

export async function openReadyEndpoint(options: ReadyEndpointOptions): Promise<ReadyEndpoint> {
  const { log } = options;
  const closing = new AbortController();
  const server = createServer({ requestTimeout: 5_000, keepAliveTimeout: 1_000 }, (request, response) => {
    void answer(request, options)
      .catch(() => 400)
      .then((code) => response.writeHead(code).end());
  });
  server.maxConnections = 1_024;
  server.on("clientError", (_error, socket) => socket.destroy());
  server.unref();

  const listen = async (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once("error", reject);
    server.listen({ host: options.host, port: options.port }, resolve);
    await promise.finally(() => server.off("error", reject));
  };
  async function listenLater(): Promise<void> {
    while (!closing.signal.aborted) {
      await pause(LISTEN_AGAIN_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      if (
        !closing.signal.aborted &&
        (await listen()
          .then(() => true)
          .catch(() => false))
      )
        return;
    }
  }
  await listen().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    log.info({ port: options.port }, "the port that instances call is in use, trying again");
    void listenLater();
  });

  return {
    get url() {
      const bound = server.address() as AddressInfo | null;
      if (!bound) return options.url;
      return options.url ?? `http://${bound.address}:${bound.port}`;
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(
  request: IncomingMessage,
  { tokenOf, listening, starved }: ReadyEndpointOptions,
): Promise<number> {
  const id = /^\/([a-z0-9-]{1,100})$/.exec(request.url ?? "")?.[1];
  if (request.method !== "POST" || id === undefined) return 404;
  const report = ReadyReport.parse(JSON.parse(await bodyOf(request)));
  const token = await tokenOf(id);
  if (token === undefined || !isSame(request.headers.authorization ?? "", `Bearer ${token}`)) return 401;
  if ("starvedMs" in report) {
    starved(id, report.starvedMs);
    return 204;
  }
  const from = (request.socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  const [, ip = "", port] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(report.address) ?? [];
  // Only the address that the call comes from is believed. Behind NAT that is another one, and the cluster tells a moment later.
  if (isIP(ip) === 0 || ip !== from || Number(port) > 65_535) return 409;
  listening(id, report.address);
  return 204;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8") as AsyncIterable<string>) {
    text += chunk;
    if (text.length > BODY_MAX_BYTES) throw new Error("too long");
  }
  return text;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
