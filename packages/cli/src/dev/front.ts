import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isIPv6, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Generation } from "./generation.ts";
import type { Generations } from "./generations.ts";
import { readBody, relayUpgrade, sendBack, sendOn, type Exchange } from "./relay.ts";

/** The one address of `vocalhost dev`. It stays while the code behind it changes. */
export interface Front extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Where a browser on this machine finds it. */
  readonly url: string;
  /** The versions of the code that answer; none until this is set. */
  serve(generations: Generations): void;
}

const HEADERS_MAX_BYTES = 16 * 1024; // the runner's own limit
const OFFER_MAX_BYTES = 1024 * 1024;

export async function startFront({ host, port }: { host: string; port: number }): Promise<Front> {
  await using stack = new AsyncDisposableStack(); // undoes a half-finished start
  const sockets = new Set<Socket>();
  let generations: Generations | undefined;

  function serverOf(): Server {
    const server = createServer({ maxHeaderSize: HEADERS_MAX_BYTES });
    server.on("request", (request, response) => void answer(generations, { request, response }));
    server.on("upgrade", (request, client, head) => void upgrade(generations, { request, client, head }));
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    return server;
  }

  // A browser takes "localhost" for either; both must lead here.
  const first = serverOf();
  await listen(first, { host: host === "localhost" ? "127.0.0.1" : host, port });
  stack.defer(() => close(first));
  const taken = (first.address() as AddressInfo).port;
  if (host === "localhost") {
    const second = serverOf();
    const isListening = await listen(second, { host: "::1", port: taken }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === "EADDRINUSE") throw error;
        return false; // a machine without IPv6
      },
    );
    if (isListening) stack.defer(() => close(second));
  }
  stack.defer(() => sockets.forEach((socket) => socket.destroy()));
  const owned = stack.move();
  return {
    host,
    port: taken,
    url: `http://${browsableHost(host)}:${taken}`,
    serve(now) {
      generations = now;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function answer(generations: Generations | undefined, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  request.on("error", () => undefined);
  response.on("error", () => undefined);
  if (!generations) return answerNotReady(request, response);
  try {
    if (isOffer(request)) return await answerOffer(generations, exchange);
    const generation = ofPath(generations, request) ?? generations.newest;
    if (!generation) return answerNotReady(request, response);
    sendBack(await askFor(generations, generation, exchange), response);
  } catch {
    if (response.headersSent) response.destroy();
    else if (request.complete || generations.newest === undefined) answerNotReady(request, response);
    else answerTooLarge(response); // a server that stops reading in the middle has refused the body
  }
}

/** Holds the code while it decides; what it started has an owner when this resolves. */
async function askFor(
  generations: Generations,
  generation: Generation,
  exchange: Exchange,
): Promise<IncomingMessage> {
  const hold = generation.hold();
  try {
    const told = await sendOn(generation, exchange);
    const session = told.headers["x-vocalhost-session-id"];
    if (typeof session === "string") generations.remember(generation, { session });
    return told;
  } finally {
    hold[Symbol.dispose]();
  }
}

// A browser names its peer connection in bodies only.
async function answerOffer(generations: Generations, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const body = await readBody(request, OFFER_MAX_BYTES);
  if (!body) return answerTooLarge(response);
  const peer = peerIn(body);
  const owner = ofPath(generations, request) ?? (peer === undefined ? undefined : generations.ofPeer(peer));
  const generation = owner ?? generations.newest;
  if (!generation) return answerNotReady(request, response);
  const told = await askFor(generations, generation, { request, response, body });
  const text = await readBody(told, OFFER_MAX_BYTES);
  if (!text) return void response.destroy();
  generations.remember(generation, { peer: peerIn(text) });
  const headers = told.rawHeaders.filter((_, at) => !isFraming(told.rawHeaders[at - (at % 2)] ?? ""));
  response.writeHead(told.statusCode ?? 502, [...headers, "content-length", String(text.length)]).end(text);
}

async function upgrade(
  generations: Generations | undefined,
  { request, client, head }: { request: IncomingMessage; client: Duplex; head: Buffer },
): Promise<void> {
  const owner = generations && ofPath(generations, request);
  const all = generations?.newest ? [generations.newest, ...generations.older] : (generations?.older ?? []);
  await relayUpgrade({ request, client, head, candidates: owner ? [owner] : all });
}

function ofPath(generations: Generations, { url = "/" }: IncomingMessage): Generation | undefined {
  const id =
    /^\/sessions\/([^/?#]+)/.exec(url)?.[1] ?? /^\/ws-client\?(?:.*&)?session=([^&#]+)/.exec(url)?.[1];
  return id === undefined ? undefined : generations.ofSession(id);
}

function isOffer({ url = "/", method }: IncomingMessage): boolean {
  return (
    /^(?:\/sessions\/[^/?#]+)?\/api\/offer(?:\?|$)/.test(url) && (method === "POST" || method === "PATCH")
  );
}

function isFraming(name: string): boolean {
  return /^(?:content-length|transfer-encoding|connection|keep-alive)$/i.test(name);
}

function peerIn(body: Buffer): string | undefined {
  try {
    const { pc_id } = JSON.parse(body.toString()) as { pc_id?: unknown };
    return typeof pc_id === "string" ? pc_id : undefined;
  } catch {
    return undefined; // the runner says what is wrong with it
  }
}

async function listen(server: Server, address: { host: string; port: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen(address, resolve);
  await promise;
  server.off("error", reject);
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}

// A host that means every address is none a browser can open.
function browsableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return isIPv6(host) ? `[${host}]` : host;
}

/** While no code runs: a page that tries again for people, the runner's own refusal for programs. */
function answerNotReady(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  const wantsPage = request.method === "GET" && (request.headers.accept ?? "").includes("text/html");
  response.writeHead(503, {
    "content-type": wantsPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8",
    "cache-control": "no-store",
    "retry-after": "1",
  });
  response.end(
    wantsPage ? PAGE : JSON.stringify({ error: SENTENCE, code: "BOT_NOT_READY", detail: SENTENCE }),
  );
}

function answerTooLarge(response: ServerResponse): void {
  const body = {
    error: "The request is too large",
    code: "PAYLOAD_TOO_LARGE",
    detail: "The request is too large",
  };
  response.writeHead(413, { "content-type": "application/json; charset=utf-8", connection: "close" });
  response.end(JSON.stringify(body));
}

const SENTENCE = "The bot is not running. The terminal says why.";

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="1">
<title>Waiting for the bot</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; display: grid; place-items: center; min-height: 90vh; color-scheme: light dark }
</style>
<main>
  <h1>Waiting for the bot</h1>
  <p>It is starting, or its code has an error. The terminal says which. This page retries automatically.</p>
</main>
</html>
`;
