import { NO_PREFERENCE, type RegionPreference } from "./choose-region.ts";
import type { AgentRow, SessionRow } from "@vocalhost/store/schema";

/** Returns the row of a session that has no instance yet. */
export function newSessionRow(options: {
  request: Pick<SessionRow, "transport" | "apiKeyId">;
  agent: Pick<AgentRow, "id" | "organizationId" | "region">;
  /** @default none */
  preference?: RegionPreference | undefined;
  sessionId: string;
  nowMs: number;
}): SessionRow {
  const { request, agent, sessionId, nowMs, preference = NO_PREFERENCE } = options;
  return {
    id: sessionId,
    organizationId: agent.organizationId,
    agentId: agent.id,
    deploymentId: null,
    instanceId: null,
    state: "pending",
    transport: request.transport,
    body: null,
    caller: null,
    filter: null,
    filterState: null,
    filterFramesIn: null,
    filterFramesFiltered: null,
    filterFigures: null,
    coldStart: null,
    apiKeyId: request.apiKeyId,
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
    observedMs: null,
    lengthCorrectionMs: null,
    seconds: null,
    timeline: "{}",
    region: agent.region,
    regionReason: null,
    regionAsked: preference.asked,
    staysInRegion: preference.stays ? 1 : 0,
  };
}
