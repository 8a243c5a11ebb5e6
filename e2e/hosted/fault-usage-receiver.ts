import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { listenOnLoopback } from "../../testing/loopback-server.ts";

/** The receiver of usage rows: remembers every row with its key, and how often it came. */
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
  const listening = await listenOnLoopback(server);
  return {
    url: `${listening.url}/usage`,
    received,
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}
