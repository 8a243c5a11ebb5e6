import { createServer, type IncomingMessage } from "node:http";
import { listenOnLoopback } from "../../../../testing/loopback-server.ts";

/** Answers by `METHOD /path`: JSON, an error, or no answer at all. */
export type FakeAnswer = { status?: number; body: unknown } | "never";

/** As much of a service as a test needs, on a free port. */
export interface FakeService extends AsyncDisposable {
  readonly url: string;
  /** `METHOD /path`, in order. */
  readonly requests: string[];
  /** Resolves when that has been asked for. */
  asked(request: string): Promise<void>;
}

export async function startFakeService(
  answers: Record<string, FakeAnswer | ((body: string, url: string) => FakeAnswer)>,
): Promise<FakeService> {
  const requests: string[] = [];
  const watchers = new Set<() => void>();
  const server = createServer((request, response) => {
    const name = `${request.method} ${request.url?.split("?")[0]}`;
    requests.push(name);
    for (const watcher of watchers) watcher();
    const found = answers[name] ?? {
      status: 404,
      body: { error: "Not found", code: "NOT_FOUND", detail: "Not found" },
    };
    void readBody(request).then((text) => {
      const answer = typeof found === "function" ? found(text, url) : found;
      if (answer === "never") return;
      response.writeHead(answer.status ?? 200, { "content-type": "application/json" });
      response.end(JSON.stringify(answer.body));
    });
  });
  const listening = await listenOnLoopback(server);
  const { url } = listening;
  return {
    url,
    requests,
    asked(request) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = (): void => {
        if (requests.includes(request)) resolve();
      };
      watchers.add(check);
      check();
      return promise.finally(() => watchers.delete(check));
    },
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += String(piece);
  return text;
}
