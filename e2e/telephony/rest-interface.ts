import { createServer } from "node:http";
import { listenOnLoopback } from "../../testing/loopback-server.ts";

/** A carrier's REST interface on this machine, which remembers what it was asked. */
export interface RestInterface extends AsyncDisposable {
  readonly requests: { line: string; authorization: string | undefined; body: string }[];
  /** Called before a request is answered. */
  onRequest: () => void;
  /** @default 200 */
  status: number;
  /** For the runner: its accounts, and where this interface is. */
  readonly environment: Record<string, string>;
}

export async function startRestInterface(): Promise<RestInterface> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      rest.requests.push({ line: `${method} ${url}`, authorization: headers.authorization, body });
      rest.onRequest();
      response.writeHead(rest.status).end();
    });
  });
  const listening = await listenOnLoopback(server);
  const { url } = listening;
  const rest: RestInterface = {
    requests: [],
    onRequest: () => undefined,
    status: 200,
    environment: {
      TWILIO_ACCOUNT_SID: "AC1",
      TWILIO_AUTH_TOKEN: "twilio-token",
      TELNYX_API_KEY: "telnyx-key",
      PLIVO_AUTH_ID: "MA1",
      PLIVO_AUTH_TOKEN: "plivo-token",
      TWILIO_API_URL: url,
      TELNYX_API_URL: url,
      PLIVO_API_URL: url,
    },
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
  return rest;
}
