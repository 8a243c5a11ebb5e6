import { agentProfiles, DeploymentSpec } from "../agents/deployment-spec.ts";
import { resolveSource } from "../agents/resolve-source.ts";
import type { OrganizationId } from "../auth/principal.ts";
import { BuildFacts } from "../builds/build-facts.ts";
import type { Deploying } from "../reconciler/take-step.ts";
import { createRedactor } from "../secrets/redact.ts";
import type { Store } from "../store/store.ts";
import type { Timing } from "../timing.ts";

export interface DeployingOptions {
  store: Store;
  timing: Timing;
  instanceToken(instanceId: string): string;
  /** Where a build's result lies. */
  buildFolder(buildId: string): string;
  secretsOf(organizationId: OrganizationId, name: string, version: number): Promise<Record<string, string>>;
}

/** Turns deployments into what the driver can run. */
export function createDeploying(options: DeployingOptions): Deploying {
  const { store, timing } = options;

  async function specOfDeployment(
    id: string,
  ): Promise<{ organizationId: OrganizationId; spec: DeploymentSpec }> {
    const row = await store.db
      .selectFrom("deployments")
      .select(["organizationId", "spec"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    return {
      organizationId: row.organizationId as OrganizationId,
      spec: DeploymentSpec.parse(JSON.parse(row.spec)),
    };
  }

  async function environmentOf(
    organizationId: OrganizationId,
    spec: DeploymentSpec,
  ): Promise<Record<string, string>> {
    if (spec.secretSet === null || spec.secretVersion === null) return {};
    return options.secretsOf(organizationId, spec.secretSet, spec.secretVersion);
  }

  async function botFileOf(buildId: string): Promise<string> {
    const { facts } = await store.db
      .selectFrom("builds")
      .select("facts")
      .where("id", "=", buildId)
      .executeTakeFirstOrThrow();
    return BuildFacts.parse(JSON.parse(facts)).botFile;
  }

  return {
    async prepare(deployment) {
      const { organizationId, spec } = await specOfDeployment(deployment.id);
      const source = await resolveSource(store, organizationId, spec);
      if (!source.ok) return { code: source.code, text: source.message };
      try {
        await environmentOf(organizationId, spec);
        return undefined;
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        return { code: "UNKNOWN_ERROR", text: `The secret set '${spec.secretSet}' cannot be read. ${text}` };
      }
    },
    async redact({ deploymentId }, text) {
      const { organizationId, spec } = await specOfDeployment(deploymentId);
      const environment = await environmentOf(organizationId, spec).catch(() => undefined);
      // What cannot be hidden is not shown at all.
      return environment ? createRedactor(Object.values(environment))(text) : (text.split("\n", 1)[0] ?? "");
    },
    async specOf({ id, deploymentId }) {
      const { organizationId, spec } = await specOfDeployment(deploymentId);
      const source = await resolveSource(store, organizationId, spec);
      if (!source.ok) throw new Error(source.message);
      const { cpuMillicores, memoryMib } = agentProfiles[spec.agentProfile];
      return {
        id,
        source: options.buildFolder(source.buildId),
        botFile: await botFileOf(source.buildId),
        environment: await environmentOf(organizationId, spec),
        token: options.instanceToken(id),
        cpuMillicores,
        memoryMib,
        heartbeatMs: timing.heartbeatMs,
        aloneMs: timing.instanceAloneMs,
      };
    },
  };
}
