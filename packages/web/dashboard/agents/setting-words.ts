import {
  agentSettings,
  type AgentSetting,
  type SettingScalar,
  type VoiceFilterSupport,
} from "@vocalhost/protocol";

/** The value of a setting as comparisons and overviews show it. */
export function settingInWords({ field, unit }: AgentSetting, value: SettingScalar): string {
  const options = field?.kind === "choice" ? field.options : [];
  const option = options.find((each) => each.value === (value ?? ""));
  if (option?.word !== undefined) return option.word;
  if (value === null || value === undefined) return "none";
  return unit === undefined ? String(value) : `${value} ${unit}`;
}

/** What has to be known before the voice filter is chosen. */
export function toEngineNote(support: VoiceFilterSupport | undefined): string | undefined {
  if (support?.engine !== "absent") return undefined;
  return "The filter's engine is not installed on this service: audio is not filtered and not billed.";
}

export function toFilterWord(filter: string | null): string {
  return settingInWords(agentSettings.audioFilter, filter);
}
