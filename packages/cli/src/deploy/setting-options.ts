import {
  agentSettings,
  placeAt,
  type AgentSetting,
  type SettingKey,
  type UpdateAgent,
} from "@vocalhost/protocol";
import { z } from "zod";
import {
  number,
  optionalChoice,
  parseWholeNumber,
  text,
  type CommandOption,
  type OptionTable,
} from "../command-option.ts";

type Row = (typeof agentSettings)[SettingKey];
type Clearing<R extends Row> = R extends { cleared: "by-null" } ? typeof CLEARED : never;

/** An option of `vocalhost deploy` for every setting, under the name of its flag. */
export type SettingOptions = {
  [R in Row as R["flag"]["name"]]: CommandOption<z.infer<R["schema"]> | Clearing<R> | undefined>;
};

const CLEARED = "none";

export const settingOptions = Object.fromEntries(
  Object.values<AgentSetting>(agentSettings).map((row) => [row.flag.name, toOption(row)]),
) as OptionTable as SettingOptions;

/** What the flags say, in the service's words. */
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
