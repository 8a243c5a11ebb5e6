import { settingName, settingsOf, type DeploymentList, type DeploymentSettings } from "@vocalhost/protocol";
import type { OrganizationId } from "../../identity/principal.ts";
import type { AgentRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import { toTime } from "@vocalhost/base/to-time";
import { type DeploymentSpec, parseSpec } from "./deployment-spec.ts";
import { imageDigestOf, toManifest } from "./manifest.ts";

const DEPLOYMENTS_MAX = 200; // the newest; older ones stay in the store

/** Returns the newest first. */
export async function listDeployments(
  { db }: Pick<Store, "db">,
  organizationId: OrganizationId,
  { agent, organizationName }: { agent: AgentRow; organizationName: string },
): Promise<DeploymentList> {
  const rows = await db
    .selectFrom("deployments")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("agentId", "=", agent.id)
    .orderBy("createdAt", "desc")
    .orderBy("id", "desc")
    .limit(DEPLOYMENTS_MAX)
    .execute();
  return {
    deployments: rows.map((row) => {
      const spec = parseSpec(row.spec);
      return {
        id: row.id,
        buildId: spec.buildId,
        manifest: toManifest({ agent, organizationName, spec }),
        createdAt: toTime(row.createdAt),
        updatedAt: toTime(row.updatedAt),
        phase: row.phase,
        settings: toDeploymentSettings(spec),
        failure:
          row.failureCode === null
            ? null
            : { code: row.failureCode, message: row.failureText ?? row.failureCode },
      };
    }),
  };
}

function toDeploymentSettings(spec: DeploymentSpec): DeploymentSettings {
  const { image, buildId, secretVersion } = spec;
  const settings = settingsOf("deployment").map(([key, row]) => [settingName(row), spec[key]]);
  const imageDigest = imageDigestOf(spec);
  return {
    image,
    imageDigest,
    buildId,
    secretVersion,
    ...Object.fromEntries(settings),
  } as DeploymentSettings;
}
