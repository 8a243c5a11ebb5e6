import {
  AgentName,
  agentSettings,
  ImageReference,
  placeAt,
  readAt,
  settingName,
  settingsOf,
  type AgentRecord,
  type AgentSetting,
  type DeploymentSettings,
  type SettingScalar,
  type SettingValues,
  type UpdateAgent,
} from "@vocalhost/protocol";
import { resolve } from "node:path";
import { usageProblem } from "../problem.ts";
import { merged, withFlags, type ProjectConfig } from "../project/project-config.ts";
import type { Project } from "../project/read-project.ts";
import { toFlagSettings, type DeployOptions } from "./deploy-options.ts";

/** The settings of a deployment. A setting that is left out keeps its deployed value, or gets the service's default. */
export interface DeployRequest {
  agentName: string;
  source: DeploySource;
  settings: Omit<UpdateAgent, "image" | "buildId">;
}

type DeploySource =
  | { type: "image"; image: string }
  | { type: "build"; buildId: string }
  | { type: "folder"; folder: string; dockerfile: string; exclude: readonly string[] };

/** Flags win over the file. Throws a usage problem when they contradict each other. */
export function toDeployRequest(options: DeployOptions, { config: file, folder }: Project): DeployRequest {
  const chosen = [options.image, options.buildId, options.buildDir].filter((given) => given !== undefined);
  if (chosen.length > 1)
    throw usageProblem("An image, --build-id and --build-dir cannot be used together.", "Use one of them.");
  const config = withFlags(file, {
    agent_name: options.agent,
    region: options.region,
    build: { dockerfile: options.dockerfile },
  });
  const { image: _image, buildId: _build, ...inFile } = toAgentSettings(config);
  const settings: DeployRequest["settings"] = merged(inFile, toFlagSettings(options));
  const { minAgents: min, maxAgents: max } = settings.autoScaling ?? {};
  if (typeof min === "number" && typeof max === "number" && min > max)
    throw usageProblem(
      `${min} agents at least and ${max} at most is impossible.`,
      "Check --min-agents and --max-agents.",
    );
  if (config.agent_name === undefined)
    throw usageProblem(
      "Which agent? None was given.",
      "Name it: vocalhost deploy my-agent",
      'Or write agent_name = "my-agent" into vocalhost.toml.',
    );
  checkWords(config.agent_name, options);
  return {
    agentName: config.agent_name,
    source: sourceOf(options, config, folder),
    settings: { ...settings, ...(options.force ? { forceRedeploy: true } : {}) },
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
    throw usageProblem(`"${buildId}" is not the id of a build.`, "See which exist: vocalhost build list");
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

/** The deployed settings, and a description of the new source. */
export interface Deployed {
  record: AgentRecord | undefined;
  /** The new deployment's settings; undefined when none of them changes. */
  settings: DeploymentSettings | undefined;
  source: string;
}

/** The changes a deployment would make, as far as the service reports the current settings. */
export function changesOf(request: DeployRequest, deployed: Deployed): Change[] {
  const { record } = deployed;
  const spec = record?.deployment?.manifest.spec;
  const from = spec?.buildId === undefined ? (spec?.image ?? "nothing") : `build ${spec.buildId}`;
  const changes: PossibleChange[] = [
    { setting: "source", from: record && from, to: deployed.source },
    { setting: "region", from: record?.region, to: request.settings.region ?? undefined },
    ...settingsOf("agent").map(([key, row]) => toChange(row, record && toScaling(record)[key], request)),
    ...settingsOf("deployment").map(([, row]) =>
      toChange(row, deployed.settings?.[settingName(row) as keyof DeploymentSettings], request),
    ),
  ];
  return changes.filter(({ from: before, to }) => to !== undefined && to !== before) as Change[];
}

type PossibleChange = Omit<Change, "to"> & { to: string | undefined };

function toChange(row: AgentSetting, now: SettingScalar, { settings }: DeployRequest): PossibleChange {
  return { setting: row.name, from: inWords(row, now), to: inWords(row, readAt(settings, row.rest)) };
}

function toScaling({ autoScaling }: AgentRecord): SettingValues<"agent"> {
  return { minAgents: autoScaling.minReplicas, maxAgents: autoScaling.maxReplicas };
}

/** Undefined if it is set nowhere. */
function inWords({ unit, cleared }: AgentSetting, value: SettingScalar): string | undefined {
  if (value === undefined || (value === null && cleared === undefined)) return undefined;
  if (value === null || value === "") return "none";
  return unit === undefined ? String(value) : `${value} ${unit}`;
}

/**
 * Converts a project's settings to the service's names. Settings it leaves out are not sent, so a redeploy keeps
 * them.
 */
export function toAgentSettings(config: ProjectConfig): UpdateAgent {
  const settings = Object.values<AgentSetting>(agentSettings).map(
    ({ rest, toml }): [AgentSetting["rest"], unknown] => [rest, readAt(config, toml)],
  );
  return placeAt([
    [["image"], config.image],
    [["buildId"], config.build_id],
    [["region"], config.region],
    ...settings,
  ]);
}
