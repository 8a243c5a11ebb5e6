import { closestWord } from "@vocalhost/protocol";
import { regionalVariables } from "@vocalhost/drivers/driver-config";
import { allSettings, readConfig, readSources } from "./config.ts";

export interface ShownSetting {
  name: string;
  /** The default for an unset setting; null for no value, and for a secret that is set. */
  value: string | null;
  from: "default" | "environment" | "file";
  isSecret: boolean;
  help: string;
}

const PREFIX = "VOCALHOST_";
// Matches names that tests and other programs of the product read.
const OTHERS =
  /^(?:API_KEY|API_URL|ORGANIZATION|REGION|VERBOSE|FOLDER|CONTAINER|INSTANCE_\w+|TEST_\w+|TRANSPORT|DIALIN|ALLOWED_ORIGINS|UPLOADS_\w+|DIALOUT_KEY|WEBSOCKET_AUTH|IDLE_TIMEOUT|MEDIA_PORT|ORIGIN|PROXY|OPUS_COMPLEXITY|REGISTRY_\w+|DEV_\w+|VOICE_FILTER)$/;

type Environment = Record<string, string | undefined>;

/** Returns every setting with its value and source, and the problems that would prevent a start. */
export function showSettings(from?: Environment): {
  settings: ShownSetting[];
  problem: string | null;
  /** Variables that are no settings. */
  unknown: { variable: string; meant: string | undefined }[];
} {
  const { file, environment } = readSources(from);
  const ofRegions = allSettings.flatMap((setting) =>
    Object.keys({ ...file, ...environment })
      .filter((name) => regionalVariables.includes(setting.name) && name.startsWith(`${setting.name}__`))
      .map((name) => ({ ...setting, name })),
  );
  const settings = [...allSettings, ...ofRegions].map((setting): ShownSetting => {
    const { name, isSecret = false, help } = setting;
    const from = environment[name] ? "environment" : file[name] ? "file" : "default";
    const value = environment[name] || file[name] || defaultText(setting).replaceAll("`", "") || null;
    return { name, value: isSecret && from !== "default" ? null : value, from, isSecret, help };
  });
  const all = { ...file, ...environment };
  return { settings, problem: problemOf(all), unknown: unknownSettings(all) };
}

/** Returns the default of a setting as the documentation shows it. */
export function defaultText({ preset, schema }: (typeof allSettings)[number]): string {
  if (preset !== undefined) return preset;
  const value = schema?.safeParse(undefined).data as number | undefined; // or another value with a short text
  return value === undefined || value.toString() === "" ? "" : `\`${value}\``;
}

/** Returns variables that look like settings but are none, each with the most similar setting. */
export function unknownSettings(environment: Environment): { variable: string; meant: string | undefined }[] {
  const known = allSettings.map(({ name }) => name);
  const variables = Object.keys(environment).filter((variable) => {
    const [name = "", region] = variable.split("__", 2);
    const isKnown = region === undefined ? known.includes(name) : regionalVariables.includes(name);
    return variable.startsWith(PREFIX) && !isKnown && !OTHERS.test(name.slice(PREFIX.length));
  });
  return variables.toSorted().map((variable) => ({ variable, meant: closestWord(variable, known) }));
}

function problemOf(environment: Environment): string | null {
  try {
    readConfig(environment);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
