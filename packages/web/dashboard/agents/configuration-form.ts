import {
  agentSettings,
  placeAt,
  settingName,
  type AgentRecord,
  type AgentSetting,
  type DeploymentSettings,
  type SettingName,
  type SettingScalar,
  type UpdateAgent,
} from "@vocalhost/protocol";

/** The form's texts as typed; empty for no value. */
export type ConfigurationForm = Record<FormName, string>;

/** Settings that can be changed in the form. */
type FormName = Exclude<SettingName, "imagePullSecretSet">;

/** One field of the form, made from its row of the table of settings. */
export interface FormRow {
  name: FormName;
  setting: AgentSetting;
  field: NonNullable<AgentSetting["field"]>;
}

export const formRows: FormRow[] = Object.values<AgentSetting>(agentSettings).flatMap((setting) =>
  setting.field ? [{ name: settingName(setting) as FormName, setting, field: setting.field }] : [],
);

export function toForm({ autoScaling }: AgentRecord, settings: DeploymentSettings): ConfigurationForm {
  const values: Record<string, SettingScalar> = {
    ...settings,
    minAgents: autoScaling.minReplicas,
    maxAgents: autoScaling.maxReplicas,
  };
  return Object.fromEntries(
    formRows.map(({ name }) => [name, String(values[name] ?? "")]),
  ) as ConfigurationForm;
}

type FormProblems = Partial<Record<FormName, string>>;

export function problemsOf(form: ConfigurationForm): FormProblems {
  const problems: FormProblems = {};
  for (const { name, setting } of formRows) {
    const problem = problemOf(setting, form[name]);
    if (problem !== undefined) problems[name] = problem;
  }
  const hasNumbers = problems.minAgents === undefined && problems.maxAgents === undefined;
  if (hasNumbers && Number(form.minAgents) > Number(form.maxAgents))
    problems.minAgents = "Must not be more than the maximum";
  return problems;
}

/** Only the differences, so that changes made elsewhere meanwhile are kept. */
export function changesOf(before: ConfigurationForm, after: ConfigurationForm): UpdateAgent {
  const differs = ({ name }: FormRow) => before[name].trim() !== after[name].trim();
  // Settings that stand in one table are sent together.
  const tables = new Set(formRows.filter(differs).map(({ setting }) => setting.rest[0]));
  return placeAt(
    formRows
      .filter(({ setting }) => tables.has(setting.rest[0]))
      .map(({ name, setting }) => [setting.rest, toValue(setting, after[name])]),
  );
}

/** Scaling is changed in place; everything else makes a new deployment. */
export function needsRollout(changes: UpdateAgent): boolean {
  return formRows.some(
    ({ setting }) => setting.of === "deployment" && Object.hasOwn(changes, setting.rest[0]),
  );
}

function problemOf({ schema, field }: AgentSetting, text: string): string | undefined {
  if (field?.kind !== "number" || !("minValue" in schema)) return undefined;
  return parseWhole(text, { min: schema.minValue ?? 0, max: schema.maxValue ?? Number.MAX_SAFE_INTEGER })
    .problem;
}

function toValue({ field, cleared }: AgentSetting, text: string): string | number | null {
  if (field?.kind === "number") return Number(text);
  return text === "" && cleared === "by-null" ? null : text;
}

/** A whole number within bounds, or why the text is none. */
function parseWhole(
  text: string,
  { min, max }: { min: number; max: number },
): { value: number; problem?: undefined } | { value?: undefined; problem: string } {
  const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return { value };
  return { problem: `Must be a whole number from ${min} to ${max}` };
}
