import {
  agentSettings,
  placeAt,
  type AgentSetting,
  type SettingKey,
  type UpdateAgent,
} from "@vocalhost/protocol";
import { z } from "zod";
import {
  flag,
  number,
  optionalChoice,
  optionalWord,
  parseDurationMs,
  parseWholeNumber,
  text,
  type ArgumentValues,
  type CommandOption,
  type OptionTable,
  type OptionValues,
} from "../command-option.ts";
import { organizationOption } from "../service/service-options.ts";

export const deployArguments = {
  agent: optionalWord({ help: "name of the agent (default: agent_name of vocalhost.toml)" }),
  image: optionalWord({ help: "image to run instead of a build: registry/name:tag" }),
};

type Row = (typeof agentSettings)[SettingKey];
type Clearing<R extends Row> = R extends { cleared: "by-null" } ? typeof CLEARED : never;

/** An option of `vocalhost deploy` for every setting, under the name of its flag. */
type SettingOptions = {
  [R in Row as R["flag"]["name"]]: CommandOption<z.infer<R["schema"]> | Clearing<R> | undefined>;
};

const CLEARED = "none";

const settingOptions = Object.fromEntries(
  Object.values<AgentSetting>(agentSettings).map((row) => [row.flag.name, toOption(row)]),
) as OptionTable as SettingOptions;

export const deployOptions = {
  buildDir: text({ takes: "folder", short: "d", help: "the bot's folder (default: that of vocalhost.toml)" }),
  dockerfile: text({ takes: "path", help: "Dockerfile in the bot's folder (default: Dockerfile)" }),
  buildId: text({ takes: "id", short: "b", help: "use this build instead of a new one" }),
  region: text({
    takes: "code",
    short: "r",
    help: "region to run in; each region has its own agent of that name",
  }),
  ...settingOptions,
  force: flag({ short: "f", help: "make a new deployment even if nothing changed; asks nothing" }),
  dryRun: flag({ help: "print what would change and change nothing" }),
  timeout: number({
    takes: "time",
    parse: parseDurationMs,
    help: "how long to watch the rollout (default: 10m)",
  }),
  configFile: text({ takes: "path", help: "project file to use instead of vocalhost.toml" }),
  organization: organizationOption,
};

export type DeployOptions = OptionValues<typeof deployOptions> & ArgumentValues<typeof deployArguments>;

/** The flags as fields of a request to the service. */
export function toFlagSettings(options: object): UpdateAgent {
  return placeAt(
    Object.values<AgentSetting>(agentSettings).map(({ rest, flag, cleared }) => {
      const given = (options as Record<string, unknown>)[flag.name];
      return [rest, given === CLEARED && cleared === "by-null" ? null : given];
    }),
  );
}

function toOption({ schema, cleared, flag }: AgentSetting): CommandOption {
  const { name: _name, ...words } = flag;
  if (schema instanceof z.ZodNumber) {
    const { minValue, maxValue } = schema;
    return number({ ...words, parse: parseWholeNumber({ min: minValue ?? 0, max: maxValue ?? Infinity }) });
  }
  if (schema instanceof z.ZodString) return text(words);
  const values = schema.options.map(String);
  return optionalChoice({ ...words, values: cleared === "by-null" ? [...values, CLEARED] : values });
}
