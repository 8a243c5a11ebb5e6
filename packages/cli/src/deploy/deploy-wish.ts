import { AgentName, ImageReference, type AgentRecord, type UpdateAgent } from "@vocalhost/protocol";
import { resolve } from "node:path";
import { usageProblem } from "../problem.ts";
import { toAgentSettings } from "../project/agent-settings.ts";
import { withFlags, type ProjectConfig } from "../project/project-config.ts";
import type { Project } from "../project/read-project.ts";
import type { DeployOptions } from "./deploy-options.ts";

/** What a deployment is asked for. What is left out stays as it is deployed, or gets the service's default. */
export interface DeployWish {
  agentName: string;
  source: DeploySource;
  settings: Omit<UpdateAgent, "image" | "buildId">;
}

export type DeploySource =
  | { type: "image"; image: string }
  | { type: "build"; buildId: string }
  | { type: "folder"; folder: string; dockerfile: string; exclude: readonly string[] };

/** Flags win over the file. Throws a usage problem when they contradict each other. */
export function toDeployWish(options: DeployOptions, { config: file, folder }: Project): DeployWish {
  const chosen = [options.image, options.buildId, options.buildDir].filter((given) => given !== undefined);
  if (chosen.length > 1)
    throw usageProblem("An image, --build-id and --build-dir exclude each other.", "Give one of them.");
  const filter = options.vendorVivaAudioFilter;
  const flags: ProjectConfig = {
    agent_name: options.agent,
    image_credentials: options.credentials,
    secret_set: options.secrets,
    region: options.region,
    agent_profile: options.profile,
    max_session_duration: options.maxSessionDuration,
    websocket_auth: options.websocketAuth,
    vendor_viva: { audio_filter: filter === "none" ? undefined : filter },
    scaling: { min_agents: options.minAgents, max_agents: options.maxAgents },
    build: { dockerfile: options.dockerfile },
  };
  const config = withFlags(file, flags);
  const { min_agents: min, max_agents: max } = config.scaling ?? {};
  if (min !== undefined && max !== undefined && min > max)
    throw usageProblem(
      `${min} agents at least and ${max} at most cannot be.`,
      "Look at --min-agents and --max-agents.",
    );
  if (config.agent_name === undefined)
    throw usageProblem(
      "Which agent? None was named.",
      "Name it: vocalhost deploy my-agent",
      'Or write agent_name = "my-agent" into vocalhost.toml.',
    );
  checkWords(config.agent_name, options);
  const { image: _image, buildId: _build, ...settings } = toAgentSettings(config);
  return {
    agentName: config.agent_name,
    source: sourceOf(options, config, folder),
    settings: {
      ...settings,
      ...(filter === "none" ? { vendorViva: { audioFilter: null } } : {}),
      ...(options.force ? { forceRedeploy: true } : {}),
    },
  };
}

function checkWords(agentName: string, { image, buildId }: DeployOptions): void {
  const name = AgentName.safeParse(agentName);
  if (!name.success)
    throw usageProblem(
      `"${agentName}" cannot be the name of an agent.`,
      name.error.issues[0]?.message ?? "Choose another.",
    );
  if (image !== undefined && !ImageReference.safeParse(image).success)
    throw usageProblem(
      `"${image}" is not an image.`,
      "Write repository/name:tag, for example registry.example.com/team/bot:1.2",
    );
  if (buildId !== undefined && !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(buildId))
    throw usageProblem(`"${buildId}" is not the id of a build.`, "Which are there? vocalhost build list");
}

function sourceOf(options: DeployOptions, config: ProjectConfig, folder: string): DeploySource {
  const { buildDir, buildId, image } = options;
  if (buildId !== undefined) return { type: "build", buildId };
  if (image !== undefined) return { type: "image", image };
  if (buildDir === undefined && config.image !== undefined) return { type: "image", image: config.image };
  if (buildDir === undefined && config.build_id !== undefined)
    return { type: "build", buildId: config.build_id };
  return {
    type: "folder",
    folder: buildDir === undefined ? resolve(folder, config.build?.context_dir ?? ".") : resolve(buildDir),
    dockerfile: config.build?.dockerfile ?? "Dockerfile",
    exclude: config.build?.exclude?.patterns ?? [],
  };
}

/** One setting that will be another than it is. */
export interface Change {
  setting: string;
  /** Undefined for a new agent, or when the service does not tell. */
  from: string | undefined;
  to: string;
}

/** What is deployed now, and in words where the new one comes from. */
export interface Deployed {
  record: AgentRecord | undefined;
  websocketAuth: string | undefined;
  source: string;
}

/** What would be different, as far as the service tells what is. */
export function changesOf({ settings }: DeployWish, { record, websocketAuth, source }: Deployed): Change[] {
  const { autoScaling, vendorViva, maxSessionDuration } = settings;
  const now: Record<string, string | undefined> | undefined = record && {
    ...deployed(record),
    "websocket auth": websocketAuth,
  };
  const wanted: Record<string, string | null | undefined> = {
    source,
    region: settings.region,
    "min agents": autoScaling?.minAgents?.toString(),
    "max agents": autoScaling?.maxAgents?.toString(),
    "secret set": named(settings.secretSet),
    "image-pull secret": named(settings.imagePullSecretSet),
    profile: settings.agentProfile,
    "audio filter": vendorViva?.audioFilter === null ? "none" : vendorViva?.audioFilter,
    "max session duration": typeof maxSessionDuration === "number" ? `${maxSessionDuration} s` : undefined,
    "websocket auth": settings.websocketAuth,
  };
  return Object.entries(wanted).flatMap(([setting, to]) => {
    const from = now?.[setting];
    return to === undefined || to === null || to === from ? [] : [{ setting, from, to }];
  });
}

const DEFAULT_SESSION_S = 7200;

function deployed({
  region,
  autoScaling,
  agentProfile,
  vendorViva,
  deployment,
}: AgentRecord): Record<string, string> {
  const spec = deployment?.manifest.spec;
  return {
    source: spec?.buildId === undefined ? (spec?.image ?? "nothing") : `build ${spec.buildId}`,
    region,
    "min agents": String(autoScaling.minReplicas),
    "max agents": String(autoScaling.maxReplicas),
    "secret set": spec?.envFromSecretNames?.join(", ") ?? "none",
    "image-pull secret": spec?.imagePullSecretName ?? "none",
    profile: agentProfile ?? "agent-1x",
    "audio filter": vendorViva?.audioFilter ?? "none",
    "max session duration": `${spec?.maxSessionDurationSeconds ?? DEFAULT_SESSION_S} s`,
  };
}

function named(set: string | null | undefined): string | null | undefined {
  return set === "" ? "none" : set;
}
