import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A page of another site, at an origin of its own. */
export interface ForeignPage extends AsyncDisposable {
  readonly port: number;
  /** Replaces the content of the page. */
  write(html: string): void;
}

export async function startForeignPage(): Promise<ForeignPage> {
  let page = "";
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(`<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Shop</title>${page}`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    write: (html) => void (page = html),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
