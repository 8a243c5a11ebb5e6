import type { UpdateAgent } from "@vocalhost/protocol";
import { badField, badRequest } from "./deploy-context.ts";
import { DEFAULT_MAX_SESSION_DURATION_S, type DeploymentSpec } from "./deployment-spec.ts";

/** What a caller can decide about a deployment; changing any of it makes a new one. */
export type Settings = Omit<DeploymentSpec, "secretVersion">;

export const defaultSettings: Omit<Settings, "image" | "buildId"> = {
  nodeType: "arm",
  imagePullSecretSet: null,
  secretSet: null,
  agentProfile: "agent-1x",
  audioFilter: null,
  maxSessionDurationS: DEFAULT_MAX_SESSION_DURATION_S,
  websocketAuth: "token",
};

export interface Scaling {
  minAgents: number;
  maxAgents: number;
}

export const defaultScaling: Scaling = { minAgents: 0, maxAgents: 50 };

/** Where the bot comes from; undefined leaves it as it is. */
export type Source = { image: string; buildId: string | null } | undefined;

/** What is left out, or null, stays. */
export function mergeSettings<S extends Omit<Settings, "image" | "buildId">>(base: S, wish: UpdateAgent): S {
  return {
    ...base,
    imagePullSecretSet: bindingOf(wish.imagePullSecretSet, base.imagePullSecretSet),
    secretSet: bindingOf(wish.secretSet, base.secretSet),
    agentProfile: wish.agentProfile ?? base.agentProfile,
    audioFilter: filterOf(wish, base.audioFilter),
    maxSessionDurationS: wish.maxSessionDuration ?? base.maxSessionDurationS,
    websocketAuth: wish.websocketAuth ?? base.websocketAuth,
  };
}

export function mergeScaling(base: Scaling, wish: UpdateAgent): Scaling {
  const minAgents = wish.autoScaling?.minAgents ?? base.minAgents;
  const maxAgents = wish.autoScaling?.maxAgents ?? base.maxAgents;
  if (minAgents > maxAgents)
    throw badField("autoScaling.minAgents", `Must not be more than maxAgents, which is ${maxAgents}`);
  return { minAgents, maxAgents };
}

export function requireOneSource(wish: UpdateAgent): void {
  if (isGiven(wish.image) && isGiven(wish.buildId))
    throw badRequest("Cannot specify both image and buildId. Use one or the other.");
}

export function isSameSettings(one: Settings, other: Settings): boolean {
  const names = Object.keys({ ...defaultSettings, image: "", buildId: null }) as (keyof Settings)[];
  return names.every((name) => one[name] === other[name]);
}

// `{}` comes from callers that leave nulls out of what they send; it must not switch the filter off.
function filterOf({ vendorViva }: UpdateAgent, current: Settings["audioFilter"]): Settings["audioFilter"] {
  if (!vendorViva || vendorViva.audioFilter === undefined) return current;
  return vendorViva.audioFilter;
}

/** An empty name takes the binding away. */
function bindingOf(wish: string | null | undefined, current: string | null): string | null {
  if (!isGiven(wish)) return current;
  return wish === "" ? null : wish;
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}
