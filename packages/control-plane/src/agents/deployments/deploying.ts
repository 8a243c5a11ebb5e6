import { basePlaces, readBaseFacts } from "@vocalhost/images";
import { instanceVariables } from "@vocalhost/protocol";
import type { OrganizationId } from "../../identity/principal.ts";
import { BuildFacts } from "../../builds/build-facts.ts";
import {
  SourceError,
  type InstanceMedia,
  type InstanceSource,
  type InstanceSpec,
  type PullSecret,
  type SourceKind,
} from "@vocalhost/drivers/driver";
import type { DeploymentRow, InstanceRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import type { Timing } from "@vocalhost/base/timing";
import { agentProfiles, type DeploymentSpec, parseSpec } from "./deployment-spec.ts";
import type { Preparing } from "./preparing.ts";
import { requireFilterIn } from "./read-source.ts";
import { type ResolvedSource, resolveSource } from "./resolve-source.ts";

/** Turns deployments into specifications for the driver. */
export interface Deploying {
  /**
   * Prepares and pins the deployment's source; undefined if nothing is left to prepare. While it is in progress, the
   * caller asks again.
   */
  prepare(deployment: DeploymentRow): Promise<Preparation | undefined>;
  /** Throws an error with a sentence for the agent's record if the bot cannot run. */
  specOf(instance: InstanceRow): Promise<InstanceSpec>;
}

export type Preparation =
  /** Retrying cannot help. */
  | { state: "refused"; code: string; text: string }
  | { state: "working"; text: string }
  | { state: "pinned"; spec: DeploymentSpec };

export interface DeployingOptions {
  store: Store;
  timing: Timing;
  /** Returns the kinds of source the region's driver supports. */
  runsIn(region: string): readonly SourceKind[];
  preparing: Preparing;
  instanceToken(instanceId: string): string;
  /** Announced to clients in place of the instances' own addresses. */
  mediaAddresses: string[];
  /** Module of the voice filter's engine. */
  vivaEngine: string | undefined;
  /** Returns the folder of a build's result, fetching it first if needed. */
  buildFolder(buildId: string): Promise<string>;
  /** Returns the credential of the registry to which builds of a region are pushed, if there is one. */
  buildPullSecretIn(region: string): PullSecret | undefined;
  secretsOf(organizationId: OrganizationId, name: string, version: number): Promise<Record<string, string>>;
  pullSecretOf(organizationId: OrganizationId, name: string): Promise<PullSecret>;
}

export function createDeploying(options: DeployingOptions): Deploying {
  const { store, timing } = options;

  async function specOfDeployment(
    id: string,
  ): Promise<{ organizationId: OrganizationId; region: string; spec: DeploymentSpec }> {
    const row = await store.db
      .selectFrom("deployments")
      .innerJoin("agents", "agents.id", "deployments.agentId")
      .select(["deployments.organizationId", "deployments.spec", "agents.region"])
      .where("deployments.id", "=", id)
      .executeTakeFirstOrThrow();
    return {
      organizationId: row.organizationId as OrganizationId,
      region: row.region,
      spec: parseSpec(row.spec),
    };
  }

  async function environmentOf(
    organizationId: OrganizationId,
    spec: DeploymentSpec,
  ): Promise<Record<string, string>> {
    if (spec.secretSet === null || spec.secretVersion === null) return {};
    return options.secretsOf(organizationId, spec.secretSet, spec.secretVersion);
  }

  async function sourceOf(
    {
      organizationId,
      region,
      spec,
    }: { organizationId: OrganizationId; region: string; spec: DeploymentSpec },
    resolved: ResolvedSource & { ok: true },
  ): Promise<InstanceSource> {
    switch (resolved.kind) {
      case "build": {
        const { buildId } = resolved;
        const folder = await options.buildFolder(buildId);
        return { kind: "build", folder, botFile: await botFileOf(buildId) };
      }
      case "image": {
        const reference = spec.pinned?.reference ?? resolved.reference;
        if (resolved.isBuilt)
          return { kind: "image", reference, pullSecret: options.buildPullSecretIn(region) };
        const name = spec.imagePullSecretSet;
        const pullSecret = name === null ? undefined : await options.pullSecretOf(organizationId, name);
        return { kind: "image", reference, pullSecret };
      }
      default:
        return resolved satisfies never;
    }
  }

  // An image contains the engine if its base does.
  function engineFor({ audioFilter, pinned }: DeploymentSpec, kind: SourceKind): Record<string, string> {
    if (audioFilter === null) return {};
    const ofImage = pinned?.filterVersion ? basePlaces.filterEngine : undefined;
    const engine = kind === "build" ? options.vivaEngine : ofImage;
    return engine === undefined ? {} : { [instanceVariables.vivaEngine]: engine };
  }

  async function pin(
    deployment: DeploymentRow & { region: string },
    spec: DeploymentSpec,
    source: () => Promise<InstanceSource>,
  ) {
    const prepared = await options.preparing.prepare(deployment, source);
    if ("working" in prepared) return { state: "working", text: prepared.working } as const;
    const { reference, labels } = prepared.done;
    const base = readBaseFacts(labels);
    requireFilterIn(base?.baseVersion, spec);
    const pinned = {
      reference,
      baseVersion: base?.baseVersion ?? null,
      filterVersion: base?.filterVersion ?? null,
    };
    return { state: "pinned", spec: { ...spec, pinned } } as const;
  }

  function mediaOf(port: number | null): { media?: InstanceMedia } {
    const { mediaAddresses: addresses } = options;
    if (port === null && addresses.length === 0) return {};
    return { media: { port: port ?? undefined, addresses } };
  }

  async function agentNameOf(id: string): Promise<string> {
    const agent = await store.db.selectFrom("agents").select("name").where("id", "=", id).executeTakeFirst();
    return agent?.name ?? "";
  }

  /** Returns the transport of the agent's newest session, because the next one usually uses the same. */
  async function expectedBy(
    organizationId: OrganizationId,
    agentId: string,
  ): Promise<Record<string, string>> {
    const newest = await store.db
      .selectFrom("sessions")
      .select("transport")
      .where("organizationId", "=", organizationId)
      .where("agentId", "=", agentId)
      .orderBy("createdAt", "desc")
      .limit(1)
      .executeTakeFirst();
    return newest ? { [instanceVariables.expects]: newest.transport } : {};
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
      const found = await specOfDeployment(deployment.id);
      const { organizationId, region, spec } = found;
      const source = await resolveSource({ store, runs: options.runsIn(region) }, organizationId, spec);
      if (!source.ok) return { state: "refused", code: source.code, text: source.message };
      try {
        await environmentOf(organizationId, spec);
      } catch (error) {
        const text = `The secret set '${spec.secretSet}' cannot be read. ${messageOf(error)}`;
        return { state: "refused", code: "UNKNOWN_ERROR", text };
      }
      if (source.kind === "build") return undefined;
      try {
        return await pin({ ...deployment, region }, spec, () => sourceOf(found, source));
      } catch (error) {
        const code = error instanceof SourceError ? error.code : "IMAGE_PULL_UNKNOWN_ERROR";
        return { state: "refused", code, text: messageOf(error) };
      }
    },
    async specOf({ id, agentId, deploymentId, mediaPort, sessionId }) {
      const found = await specOfDeployment(deploymentId);
      const { organizationId, region, spec } = found;
      const resolved = await resolveSource({ store, runs: options.runsIn(region) }, organizationId, spec);
      if (!resolved.ok) throw new Error(resolved.message);
      const { cpuMillicores, memoryMib } = agentProfiles[spec.agentProfile];
      return {
        id,
        region,
        source: await sourceOf(found, resolved),
        environment: {
          ...(await environmentOf(organizationId, spec)),
          ...engineFor(spec, resolved.kind),
          ...(await expectedBy(organizationId, agentId)),
        },
        token: options.instanceToken(id),
        cpuMillicores,
        memoryMib,
        heartbeatMs: timing.heartbeatMs,
        aloneMs: timing.instanceAloneMs,
        isAwaited: sessionId !== null,
        ...mediaOf(mediaPort),
        owner: { agentId, agentName: await agentNameOf(agentId), deploymentId },
      };
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
