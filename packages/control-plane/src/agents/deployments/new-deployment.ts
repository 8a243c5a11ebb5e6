import type { DeploymentRow } from "@vocalhost/store/schema";
import type { DeploymentSpec } from "./deployment-spec.ts";

export interface NewDeployment extends Pick<DeploymentRow, "id" | "organizationId" | "agentId" | "phase"> {
  spec: DeploymentSpec;
  nowMs: number;
}

/** Its row before anything has happened to it. */
export function newDeployment({ spec, nowMs, ...own }: NewDeployment): DeploymentRow {
  return {
    ...own,
    phaseStartedAt: nowMs,
    spec: JSON.stringify(spec),
    crashes: 0,
    lastCrashAt: null,
    lastExitCode: null,
    crashText: null,
    failureCode: null,
    failureText: null,
    progressText: null,
    version: 1,
    createdAt: nowMs,
    updatedAt: nowMs,
  };
}
