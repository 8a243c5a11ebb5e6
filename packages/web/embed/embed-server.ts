import type { BotServer } from "../shared/connection/bot-server.ts";

/** The page's settings for its bot. */
export interface EmbedSettings {
  /** Where the script came from. */
  origin: string;
  /** Name of a hosted agent; without it the script came from a runner. */
  agent: string | undefined;
  /** A public key: it starts sessions, and only of the agents and as often as it is allowed to. */
  key: string | undefined;
}

const LOOK_MS = 4_000;

/** The runner or the service that the script of a foreign page came from. */
export function createEmbedServer({ origin, agent, key }: EmbedSettings): BotServer {
  const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
  const base = agent ? `${origin}/v1/public/${encodeURIComponent(agent)}` : origin;
  return {
    startUrl: `${base}/start`,
    startHeaders: headers,
    ...(agent ? { startRequest: { enableDefaultIceServers: true } } : {}),
    offerTo(answer) {
      const { sessionId } = (answer ?? {}) as { sessionId?: unknown };
      if (typeof sessionId !== "string") return undefined;
      return { url: `${base}/sessions/${encodeURIComponent(sessionId)}/api/offer`, headers };
    },
    filterAt: () => undefined,
    // A page that may not read the answer still learns that there was one.
    isThere: () =>
      fetch(`${origin}/`, { mode: "no-cors", signal: AbortSignal.timeout(LOOK_MS), cache: "no-store" }).then(
        () => true,
        () => false,
      ),
  };
}
