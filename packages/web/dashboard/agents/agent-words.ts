import {
  agentSettings,
  type AgentRecord,
  type AgentSetting,
  type Manifest,
  type SettingScalar,
  type VoiceFilterSupport,
} from "@vocalhost/protocol";
import type { Tone } from "../ui/badge.tsx";

interface AgentState {
  word: string;
  tone: Tone;
  /** Why, or what it means. */
  reason: string;
}

/** The state of an agent in words, and its reason. */
export function toAgentState(record: AgentRecord): AgentState {
  const { currentRevision: revision, errors = [] } = record;
  const serves = record.available ? "the previous version still serves" : "no sessions can start";
  if (isDeleting(record))
    return { word: "Deleting", tone: "busy", reason: "No new sessions; running ones may finish" };
  if (revision?.phase === "Failed")
    return {
      word: "Failed",
      tone: "bad",
      reason: `${errors[0]?.message ?? "The rollout failed"} (${serves})`,
    };
  if (revision?.phase === "Creating" || revision?.phase === "Validating") {
    const crashes = revision.health?.restartCount ?? 0;
    if (crashes > 0)
      return {
        word: "Crashing",
        tone: "bad",
        reason: `Crashed ${times(crashes)} while starting and is being retried; ${serves}`,
      };
    const step = revision.phase === "Creating" ? "is being prepared" : "is waiting for its first instance";
    return { word: "Rolling out", tone: "busy", reason: `The new deployment ${step}; ${serves}` };
  }
  const crashes = revision?.health?.restartCount ?? 0;
  if (crashes > 0)
    return {
      word: record.available ? "Degraded" : "Crashing",
      tone: "bad",
      reason: `Instances crashed ${times(crashes)}; retries are backing off`,
    };
  if (!record.available) return { word: "Unavailable", tone: "bad", reason: "No sessions can start" };
  if (record.autoScaling.minReplicas === 0 && (revision?.readyReplicas ?? 0) === 0)
    return { word: "Ready", tone: "good", reason: "Scaled to zero: the next session starts an instance" };
  return { word: "Ready", tone: "good", reason: "Sessions can start" };
}

function isDeleting({ conditions = [] }: AgentRecord): boolean {
  return conditions.some(({ type, reason }) => type === "Available" && reason === "Deleting");
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

/** The value of a setting as comparisons and overviews show it. */
export function settingInWords({ field, unit }: AgentSetting, value: SettingScalar): string {
  const options = field?.kind === "choice" ? field.options : [];
  const option = options.find((each) => each.value === (value ?? ""));
  if (option?.word !== undefined) return option.word;
  if (value === null || value === undefined) return "none";
  return unit === undefined ? String(value) : `${value} ${unit}`;
}

/** A note on the region's voice filter, shown beside the choice. */
export function toEngineNote(support: VoiceFilterSupport | undefined): string | undefined {
  if (support?.engine !== "absent") return undefined;
  return "The filter's engine is not installed on this service: audio is not filtered and not billed.";
}

export function toFilterWord(filter: string | null): string {
  return settingInWords(agentSettings.audioFilter, filter);
}

/** Where the bot comes from: an image, or a build of this service. */
export function toSource({ spec }: Manifest): string {
  return spec.buildId === undefined ? spec.image : `Build ${spec.buildId.slice(0, 8)}`;
}
