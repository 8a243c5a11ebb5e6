import { settingName, settingsOf, type DeploymentSettings, type SettingScalar } from "@vocalhost/protocol";
import { settingInWords } from "../agents/agent-words.ts";

export interface Change {
  label: string;
  before: string;
  after: string;
}

type Name = keyof DeploymentSettings;

/** In the order in which they are shown. */
const rows: { name: Name; label: string; inWords: (value: SettingScalar) => string }[] = [
  { name: "image", label: "Image", inWords: orNone },
  { name: "imageDigest", label: "Image digest", inWords: orNone },
  { name: "buildId", label: "Build", inWords: orNone },
  ...settingsOf("deployment").flatMap(([key, setting]) => [
    {
      name: settingName(setting) as Name,
      label: setting.label,
      inWords: (value: SettingScalar) => settingInWords(setting, value),
    },
    ...(key === "secretSet"
      ? [{ name: "secretVersion" as const, label: "Secrets version", inWords: orNone }]
      : []),
  ]),
];

/** The differences between two deployments, in a fixed order. */
export function changesBetween(before: DeploymentSettings, after: DeploymentSettings): Change[] {
  return rows.flatMap(({ name, label, inWords }) => {
    // The image of a build is only another name for the build.
    if (name === "image" && before.buildId !== null && after.buildId !== null) return [];
    if (before[name] === after[name]) return [];
    return [{ label, before: inWords(before[name]), after: inWords(after[name]) }];
  });
}

/** All settings, for what is the same. */
export function settingsInWords(settings: DeploymentSettings): { label: string; value: string }[] {
  return rows
    .filter(({ name }) => !(name === "image" && settings.buildId !== null))
    .map(({ name, label, inWords }) => ({ label, value: inWords(settings[name]) }));
}

function orNone(value: SettingScalar): string {
  return value === null ? "none" : String(value);
}
