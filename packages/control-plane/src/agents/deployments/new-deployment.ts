import type { DeploymentRow } from "@vocalhost/store/schema";
import type { DeploymentSpec } from "./deployment-spec.ts";

export interface NewDeployment extends Pick<DeploymentRow, "id" | "organizationId" | "agentId" | "phase"> {
  spec: DeploymentSpec;
  nowMs: number;
}

/** Returns the row of a new deployment. */
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
