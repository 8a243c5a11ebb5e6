import { createReadStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { build } from "vite";

/** A web page that uses client packages as an application would, served from an origin of its own. */
export interface ClientPages extends AsyncDisposable {
  readonly origin: string;
}

/** Bundles the folder's `index.html` and serves the result on a free port. */
export async function startClientPages(folder: string): Promise<ClientPages> {
  await using stack = new AsyncDisposableStack(); // undoes a half-finished start
  const built = await mkdtemp(join(tmpdir(), "client-pages-"));
  stack.defer(() => rm(built, { recursive: true, force: true }));
  await build({
    root: folder,
    configFile: false,
    logLevel: "error",
    build: { outDir: built, emptyOutDir: true, minify: false },
  });
  const { origin } = stack.use(await servePages(built));
  const owned = stack.move();
  return { origin, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Serves a page that is built on a free port. */
export async function servePages(folder: string): Promise<ClientPages> {
  const server = await listen(serveFiles(folder));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://localhost:${port}`, [Symbol.asyncDispose]: () => closeServer(server) };
}

const MEDIA_TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

function serveFiles(folder: string): Server {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost"); // resolves every ".."
    const file = join(folder, pathname === "/" ? "index.html" : pathname);
    stat(file)
      .then((found) => {
        if (!found.isFile()) throw new Error("not a file");
        response.writeHead(200, { "content-type": MEDIA_TYPES[extname(file)] ?? "application/octet-stream" });
        createReadStream(file).pipe(response);
      })
      .catch(() => response.writeHead(404).end());
  });
}

async function listen(server: Server): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen(0, "localhost", resolve);
  await promise;
  return server;
}

async function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
