import { foreignManifest, type Deployment, type Manifest } from "@vocalhost/protocol";
import type { AgentRow, DeploymentRow } from "@vocalhost/store/schema";
import { toTime } from "@vocalhost/base/to-time";
import {
  agentProfiles,
  DEFAULT_MAX_SESSION_DURATION_S,
  type DeploymentSpec,
  parseSpec,
} from "./deployment-spec.ts";

/** Converts a deployment to the form clients get. */
export function toDeployment(options: {
  agent: AgentRow;
  organizationName: string;
  deployment: DeploymentRow;
}): Deployment {
  const { agent, organizationName, deployment } = options;
  const spec = parseSpec(deployment.spec);
  return {
    id: deployment.id,
    serviceId: agent.id,
    createdAt: toTime(deployment.createdAt),
    updatedAt: toTime(deployment.updatedAt),
    buildId: spec.buildId,
    manifest: toManifest({ agent, organizationName, spec }),
  };
}

export function toManifest(options: {
  agent: AgentRow;
  organizationName: string;
  spec: DeploymentSpec;
}): Manifest {
  const { agent, organizationName, spec } = options;
  return {
    apiVersion: "vocalhost/v1",
    kind: "Agent",
    metadata: { name: agent.name, namespace: organizationName },
    spec: {
      nodeType: spec.nodeType,
      ...foreignManifest(spec),
      image: spec.buildId === null ? spec.image : "",
      ...digestOf(spec),
      ...(spec.buildId === null ? {} : { buildId: spec.buildId }),
      autoScaling: { minReplicas: agent.minAgents, maxReplicas: agent.maxAgents },
      ...(spec.imagePullSecretSet === null ? {} : { imagePullSecretName: spec.imagePullSecretSet }),
      ...(spec.secretSet === null ? {} : { envFromSecretNames: [spec.secretSet] }),
      resources: agentProfiles[spec.agentProfile].manifest,
      ...(spec.audioFilter === null ? {} : { vendorViva: { audioFilters: true } }),
      ...(spec.maxSessionDurationS === DEFAULT_MAX_SESSION_DURATION_S
        ? {}
        : { maxSessionDurationSeconds: spec.maxSessionDurationS }),
    },
  };
}

/** Returns the image's digest in its registry. An image loaded into an engine has only an id there. */
export function imageDigestOf({ pinned }: Pick<DeploymentSpec, "pinned">): string | null {
  return /sha256:[0-9a-f]{64}$/.exec(pinned?.reference ?? "")?.[0] ?? null;
}

function digestOf(spec: DeploymentSpec): { imageDigest?: string } {
  const imageDigest = imageDigestOf(spec);
  return imageDigest === null ? {} : { imageDigest };
}
