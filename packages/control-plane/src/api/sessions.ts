import { sessionOperations } from "@vocalhost/protocol";
import { resourceMetrics } from "../usage/samples.ts";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";
import { findSession, listSessions, timelineOf, toSession } from "./read-sessions.ts";

const wording = { unauthorizedText: "Unauthorized / token expired" };

export function handleSessions({ store, stopSession }: ApiPorts): Handled[] {
  return handle(sessionOperations, {
    list: { ...wording, repeatsIssues: true },
    get: wording,
    stop: wording,
  })({
    list: async ({ organizationId, params, query }) =>
      listSessions(store, organizationId, { name: params.serviceName, query }),
    get: async ({ organizationId, params }) => {
      const { serviceName: name, sessionId } = params;
      const row = await findSession(store, organizationId, { name, sessionId });
      return {
        ...toSession(row),
        resourceMetrics: await resourceMetrics(store, organizationId, row.id),
        meetingIds: [],
        timeline: timelineOf(row),
      };
    },
    stop: async ({ organizationId, params, actor }) => {
      const { serviceName: agentName, sessionId } = params;
      await findSession(store, organizationId, { name: agentName, sessionId });
      await stopSession({ organizationId, agentName, sessionId, actor });
      return { status: "terminated", session_id: sessionId };
    },
  });
}
