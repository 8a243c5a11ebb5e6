import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** Whoever writes the invoices: remembers under which name it was told what, and how often. */
export interface UsageReceiver extends AsyncDisposable {
  readonly url: string;
  /** Bodies by `Idempotency-Key`. */
  readonly received: ReadonlyMap<string, string[]>;
}

export async function startUsageReceiver(): Promise<UsageReceiver> {
  const received = new Map<string, string[]>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const key = String(request.headers["idempotency-key"]);
      received.set(key, [...(received.get(key) ?? []), body]);
      response.writeHead(204).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/usage`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
