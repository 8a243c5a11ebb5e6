import { findId } from "./find-id.ts";
import { aboutAgent } from "./explain.ts";
import type { Service } from "./open-service.ts";

const NEWEST = 1000; // as many as the service lists at once

/** A session of an agent by its id or the beginning of it; a beginning stands for one of the newest only. */
export async function findSession(service: Service, agentName: string, given: string): Promise<string> {
  return findId(given, {
    what: "session",
    listedBy: `vocalhost agent sessions ${agentName}`,
    async known() {
      const listed = service.api.sessions.list(agentName, { status: "all", limit: NEWEST });
      const { sessions } = await aboutAgent(service, agentName, listed);
      return sessions.map(({ sessionId }) => sessionId);
    },
  });
}
