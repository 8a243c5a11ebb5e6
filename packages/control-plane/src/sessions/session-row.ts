import type { AgentRow, SessionRow } from "../store/schema.ts";

/** A session row nobody serves yet. */
export function newSessionRow(options: {
  wish: Pick<SessionRow, "transport" | "apiKeyId">;
  agent: Pick<AgentRow, "id" | "organizationId">;
  sessionId: string;
  nowMs: number;
}): SessionRow {
  const { wish, agent, sessionId, nowMs } = options;
  return {
    id: sessionId,
    organizationId: agent.organizationId,
    agentId: agent.id,
    deploymentId: null,
    instanceId: null,
    state: "pending",
    transport: wish.transport,
    body: null,
    filter: null,
    coldStart: null,
    apiKeyId: wish.apiKeyId,
    epoch: 0,
    version: 1,
    createdAt: nowMs,
    boundAt: null,
    activeAt: null,
    startMs: null,
    maxDurationMs: 0,
    deadlineAt: null,
    stopRequestedAt: null,
    stopReason: null,
    endedAt: null,
    endReason: null,
    elapsedMs: null,
    seconds: null,
    timeline: "{}",
  };
}
