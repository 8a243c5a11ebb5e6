import { text, type OptionValues } from "../command-option.ts";
import { toVariables } from "../up/up-options.ts";

/** Which service is meant: the one `vocalhost up` with the same options runs. */
export const operateOptions = {
  dataDir: text({ takes: "folder", help: "the service's data folder (default: as vocalhost up)" }),
  settings: text({ takes: "file", help: "file of settings, one NAME=value per line" }),
};

export type OperateOptions = OptionValues<typeof operateOptions>;

export function toServiceVariables({ dataDir, settings }: OperateOptions): Record<string, string> {
  return toVariables({ dataDir, settings });
}
