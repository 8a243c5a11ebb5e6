import type { SessionDetails } from "@vocalhost/protocol";
import { readFileSync } from "node:fs";
import { until } from "../../testing/wait.ts";
import type { ServiceProcess } from "../harness/service-process.ts";
import { openSocket, type SocketClient } from "../harness/socket-client.ts";

/** Says back what it hears and does what its start body asks. */
export const ECHO_BOT = {
  "bot.ts": readFileSync(new URL("../bots/hosted-bot.ts", import.meta.url), "utf8"),
};

export interface StartOptions {
  transport?: string;
  body?: unknown;
  enableDefaultIceServers?: boolean;
  region?: string;
  stayInRegion?: boolean;
  createDailyRoom?: boolean;
  roomProperties?: object;
  room?: { token: string };
  dialout?: { to: string; from: string };
  /** @default the service's first public key */
  key?: string;
  headers?: Record<string, string>;
}

/** A start as scripts send it; what comes of it is the caller's business. */
export function start(service: ServiceProcess, agent: string, options: StartOptions = {}): Promise<Response> {
  const { key = service.publicKey, headers, ...body } = options;
  return fetch(`${service.apiUrl}/public/${agent}/start`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

export interface PreparedCall {
  sessionId: string;
  wsUrl: string;
  /** Empty for agents that take none. */
  token: string;
  /** With its token. */
  url: string;
}

/** A session that waits for its socket. */
export async function prepareCall(
  service: ServiceProcess,
  agent: string,
  options: StartOptions = {},
): Promise<PreparedCall> {
  const answer = await start(service, agent, { transport: "websocket", ...options });
  if (answer.status !== 200) throw new Error(`No start: ${answer.status} ${await answer.text()}`);
  const { wsUrl, token = "" } = (await answer.json()) as { wsUrl: string; token?: string };
  const sessionId = answer.headers.get("x-vocalhost-session-id") ?? "";
  return { sessionId, wsUrl, token, url: `${wsUrl}${wsUrl.includes("?") ? "&" : "?"}token=${token}` };
}

export async function openCall(
  service: ServiceProcess,
  agent: string,
  options: StartOptions = {},
): Promise<{ sessionId: string; socket: SocketClient }> {
  const { sessionId, url } = await prepareCall(service, agent, options);
  return { sessionId, socket: await openSocket(url) };
}

/** Resolves with the record of a session once it is over; a service that is away for a while is no end. */
export async function ended(
  service: ServiceProcess,
  agent: string,
  sessionId: string,
): Promise<SessionDetails> {
  return until(
    async () => {
      const session = await service.api.sessions.get(agent, sessionId).catch(() => undefined);
      return session?.status === "ended" && session;
    },
    20_000,
    `end of session ${sessionId}`,
  );
}
