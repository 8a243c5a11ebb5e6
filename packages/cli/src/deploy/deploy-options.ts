import {
  flag,
  number,
  optionalWord,
  parseDurationMs,
  text,
  type ArgumentValues,
  type OptionValues,
} from "../command-option.ts";
import { organizationOption } from "../service/service-options.ts";
import { settingOptions } from "./setting-options.ts";

export const deployArguments = {
  agent: optionalWord({ help: "name of the agent (default: agent_name of vocalhost.toml)" }),
  image: optionalWord({ help: "image to run instead of a build: registry/name:tag" }),
};

export const deployOptions = {
  buildDir: text({ takes: "folder", short: "d", help: "the bot's folder (default: that of vocalhost.toml)" }),
  dockerfile: text({ takes: "path", help: "Dockerfile in the bot's folder (default: Dockerfile)" }),
  buildId: text({ takes: "id", short: "b", help: "a build that exists, instead of a new one" }),
  region: text({
    takes: "code",
    short: "r",
    help: "where it runs; one more region is one more agent of that name",
  }),
  ...settingOptions,
  force: flag({ short: "f", help: "make a new deployment even if nothing changed; asks nothing" }),
  dryRun: flag({ help: "print what would change and change nothing" }),
  timeout: number({
    takes: "time",
    parse: parseDurationMs,
    help: "how long to watch the rollout (default: 10m)",
  }),
  configFile: text({ takes: "path", help: "another file than vocalhost.toml" }),
  organization: organizationOption,
};

export type DeployOptions = OptionValues<typeof deployOptions> & ArgumentValues<typeof deployArguments>;
