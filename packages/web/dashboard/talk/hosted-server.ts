import type { BotServer } from "../../shared/connection/bot-server.ts";
import type { FilterAddress } from "../../shared/connection/filter-remote.ts";

const LOOK_MS = 4_000;

/** The service this page came from, for whoever is signed in: the browser's cookie starts the session. */
export function createHostedServer({
  organization,
  agent,
  region,
}: {
  organization: string;
  agent: string;
  /** The one its page is about, of an agent in several. */
  region?: string | undefined;
}): BotServer {
  const name = encodeURIComponent(agent);

  function ofSession(answer: unknown, path: string): FilterAddress | undefined {
    const { sessionId, sessionToken } = (answer ?? {}) as { sessionId?: unknown; sessionToken?: unknown };
    if (typeof sessionId !== "string" || typeof sessionToken !== "string") return undefined;
    return {
      url: `/v1/public/${name}/sessions/${encodeURIComponent(sessionId)}/${path}`,
      headers: { authorization: `Bearer ${sessionToken}` },
    };
  }

  return {
    startUrl: `/v1/organizations/${encodeURIComponent(organization)}/public/${name}/start`,
    startRequest: {
      enableDefaultIceServers: true,
      ...(region === undefined ? {} : { region, stayInRegion: true }),
    },
    callParameters: { _serviceHost: `${agent}.${organization}` }, // for agents that take calls without a token
    offerTo: (answer) => ofSession(answer, "api/offer"),
    filterAt: (answer) => ofSession(answer, "api/voice-filter"),
    isThere: () =>
      fetch("/healthz", { signal: AbortSignal.timeout(LOOK_MS), cache: "no-store" }).then(
        ({ ok }) => ok,
        () => false,
      ),
  };
}
