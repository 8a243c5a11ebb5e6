import {
  agentLimits,
  type AgentRecord,
  type DeploymentSettings,
  type UpdateAgent,
} from "@vocalhost/protocol";
import { parseWhole } from "../ui/parse-whole.ts";

/** What the form holds: texts, as they are typed. */
export interface ConfigurationForm {
  audioFilter: string;
  minAgents: string;
  maxAgents: string;
  /** Empty: none. */
  secretSet: string;
  agentProfile: string;
  maxSessionDuration: string;
  websocketAuth: string;
}

export function toForm(agent: AgentRecord, settings: DeploymentSettings): ConfigurationForm {
  return {
    audioFilter: settings.audioFilter ?? "",
    minAgents: String(agent.autoScaling.minReplicas),
    maxAgents: String(agent.autoScaling.maxReplicas),
    secretSet: settings.secretSet ?? "",
    agentProfile: settings.agentProfile,
    maxSessionDuration: String(settings.maxSessionDuration),
    websocketAuth: settings.websocketAuth,
  };
}

export type FormProblems = Partial<Record<keyof ConfigurationForm, string>>;

export function problemsOf(form: ConfigurationForm): FormProblems {
  const min = parseWhole(form.minAgents, { min: 0, max: agentLimits.agents });
  const max = parseWhole(form.maxAgents, { min: 1, max: agentLimits.agents });
  const duration = parseWhole(form.maxSessionDuration, {
    min: agentLimits.minSessionDurationS,
    max: agentLimits.maxSessionDurationS,
  });
  const problems: FormProblems = {};
  if (min.problem !== undefined) problems.minAgents = min.problem;
  if (max.problem !== undefined) problems.maxAgents = max.problem;
  if (min.value !== undefined && max.value !== undefined && min.value > max.value)
    problems.minAgents = "Must not be more than the maximum";
  if (duration.problem !== undefined) problems.maxSessionDuration = duration.problem;
  return problems;
}

/** Only what differs, so that what somebody else changed meanwhile is left alone. */
export function changesOf(before: ConfigurationForm, after: ConfigurationForm): UpdateAgent {
  const changes: UpdateAgent = {};
  const differs = (name: keyof ConfigurationForm) => before[name].trim() !== after[name].trim();
  if (differs("audioFilter"))
    changes.vendorViva = {
      audioFilter: after.audioFilter === "" ? null : (after.audioFilter as "tel" | "pro"),
    };
  if (differs("minAgents") || differs("maxAgents"))
    changes.autoScaling = { minAgents: Number(after.minAgents), maxAgents: Number(after.maxAgents) };
  if (differs("secretSet")) changes.secretSet = after.secretSet;
  if (differs("agentProfile")) changes.agentProfile = after.agentProfile as "agent-1x";
  if (differs("maxSessionDuration")) changes.maxSessionDuration = Number(after.maxSessionDuration);
  if (differs("websocketAuth")) changes.websocketAuth = after.websocketAuth as "none" | "token";
  return changes;
}

/** Scaling is changed in place; everything else makes a new deployment. */
export function needsRollout(changes: UpdateAgent): boolean {
  const { autoScaling: _, ...rest } = changes;
  return Object.keys(rest).length > 0;
}
