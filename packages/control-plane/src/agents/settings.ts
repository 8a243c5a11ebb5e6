import {
  defaultValues,
  readAt,
  settingsOf,
  type AgentSetting,
  type SettingValues,
  type UpdateAgent,
} from "@vocalhost/protocol";
import type { DeploymentSpec } from "./deployments/deployment-spec.ts";
import { badField, badRequest } from "@vocalhost/base/refusals";

/** The settings a caller can choose; a change of any of them creates a deployment. */
export type Settings = Omit<DeploymentSpec, "secretVersion">;

export const defaultSettings: Omit<Settings, "image" | "buildId" | "pinned"> = {
  nodeType: "arm",
  ...defaultValues("deployment"),
};

export type Scaling = SettingValues<"agent">;

export const defaultScaling: Scaling = defaultValues("agent");

/** Keeps values that are left out or null. */
export function mergeSettings<S extends Omit<Settings, "image" | "buildId" | "pinned">>(
  base: S,
  input: UpdateAgent,
): S {
  const merged = settingsOf("deployment").map(([key, row]) => [key, mergedValue(row, input, base[key])]);
  return { ...base, ...Object.fromEntries(merged) };
}

export function mergeScaling(base: Scaling, input: UpdateAgent): Scaling {
  const merged = settingsOf("agent").map(([key, row]) => [key, mergedValue(row, input, base[key])]);
  const scaling = Object.fromEntries(merged) as Scaling;
  if (scaling.minAgents > scaling.maxAgents)
    throw badField("autoScaling.minAgents", `Must not be more than maxAgents, which is ${scaling.maxAgents}`);
  return scaling;
}

export function requireOneSource(input: UpdateAgent): void {
  if (isGiven(input.image) && isGiven(input.buildId))
    throw badRequest("Cannot specify both image and buildId. Use one or the other.");
}

export function isSameSettings(one: Settings, other: Settings): boolean {
  const names = Object.keys({ ...defaultSettings, image: "", buildId: null }) as (keyof Settings)[];
  return names.every((name) => one[name] === other[name]);
}

// `{}` comes from clients that omit nulls; it must not switch the filter off.
function mergedValue({ rest, cleared }: AgentSetting, input: UpdateAgent, current: unknown): unknown {
  const given = readAt(input, rest);
  if (given === undefined || (given === null && cleared !== "by-null")) return current;
  return given === "" && cleared === "by-empty-text" ? null : given;
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}
