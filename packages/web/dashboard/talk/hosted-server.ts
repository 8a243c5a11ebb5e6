import type { BotServer } from "../../shared/connection/bot-server.ts";

const LOOK_MS = 4_000;

/** The service this page came from, for whoever is signed in: the browser's cookie starts the session. */
export function createHostedServer({
  organization,
  agent,
}: {
  organization: string;
  agent: string;
}): BotServer {
  const name = encodeURIComponent(agent);
  return {
    startUrl: `/v1/organizations/${encodeURIComponent(organization)}/public/${name}/start`,
    startRequest: { enableDefaultIceServers: true },
    callParameters: { _serviceHost: `${agent}.${organization}` }, // for agents that take calls without a token
    offerTo(answer) {
      const { sessionId, sessionToken } = (answer ?? {}) as { sessionId?: unknown; sessionToken?: unknown };
      if (typeof sessionId !== "string" || typeof sessionToken !== "string") return undefined;
      return {
        url: `/v1/public/${name}/sessions/${encodeURIComponent(sessionId)}/api/offer`,
        headers: { authorization: `Bearer ${sessionToken}` },
      };
    },
    isThere: () =>
      fetch("/healthz", { signal: AbortSignal.timeout(LOOK_MS), cache: "no-store" }).then(
        ({ ok }) => ok,
        () => false,
      ),
  };
}
