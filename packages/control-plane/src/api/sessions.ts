import { SessionDetails, SessionList, SessionListQuery, SessionStopped } from "@vocalhost/protocol";
import { z } from "zod";
import { resourceMetrics } from "../usage/samples.ts";
import { AgentParams } from "./agents.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";
import { findSession, listSessions, timelineOf, toSession } from "./read-sessions.ts";

const tag = "Sessions";
const SessionParams = AgentParams.extend({ sessionId: z.uuid() });
const wording = { unauthorizedText: "Unauthorized / token expired" };

export function sessionOperations({ store, stopSession }: ApiPorts): Operation[] {
  return [
    defineOperation({
      id: "listSessions",
      tag,
      summary: "Sessions of an agent, newest first",
      method: "GET",
      path: "/agents/:serviceName/sessions",
      alias: "/services/:serviceName/sessions",
      right: "view",
      params: AgentParams,
      query: SessionListQuery,
      answers: { 200: SessionList },
      wording: { ...wording, repeatsIssues: true },
      run: async ({ organizationId, params, query }) =>
        listSessions(store, organizationId, { name: params.serviceName, query }),
    }),
    defineOperation({
      id: "getSession",
      tag,
      summary: "One session: how it started, what it used, how it ended",
      method: "GET",
      path: "/agents/:serviceName/sessions/:sessionId",
      alias: "/services/:serviceName/sessions/:sessionId",
      right: "view",
      params: SessionParams,
      answers: { 200: SessionDetails },
      wording,
      run: async ({ organizationId, params }) => {
        const { serviceName: name, sessionId } = params;
        const row = await findSession(store, organizationId, { name, sessionId });
        return {
          ...toSession(row),
          resourceMetrics: await resourceMetrics(store, organizationId, row.id),
          meetingIds: [],
          timeline: timelineOf(row),
        };
      },
    }),
    defineOperation({
      id: "stopSession",
      tag,
      summary: "End a session at once",
      method: "DELETE",
      path: "/agents/:serviceName/sessions/:sessionId",
      alias: "/services/:serviceName/sessions/:sessionId",
      right: "manage",
      params: SessionParams,
      answers: { 200: SessionStopped },
      wording,
      run: async ({ organizationId, params, actor }) => {
        const { serviceName: agentName, sessionId } = params;
        await findSession(store, organizationId, { name: agentName, sessionId });
        await stopSession({ organizationId, agentName, sessionId, actor });
        return { status: "terminated", session_id: sessionId };
      },
    }),
  ];
}
