import {
  flag,
  number,
  optionalChoice,
  optionalWord,
  parseWholeNumber,
  text,
  word,
} from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { deployArguments, deployOptions } from "../deploy/deploy-options.ts";
import { logLevels } from "../logs/level.ts";
import { serviceOptions } from "../service/service-options.ts";

export const deploy = defineCommand({
  name: "deploy",
  summary: "build a bot and roll it out",
  description:
    "Builds the bot's folder on the service, or takes an image, and rolls it out. Calls in progress continue. The command " +
    "shows each step of the rollout and fails if the deployment fails. Options override vocalhost.toml. A setting that " +
    "neither names keeps its deployed value.",
  arguments: deployArguments,
  options: deployOptions,
  examples: [
    { line: "vocalhost deploy", about: "this folder, as vocalhost.toml says" },
    {
      line: "vocalhost deploy my-agent --min-agents 1 --secrets my-secrets",
      about: "named, one instance ready",
    },
    { line: "vocalhost deploy --dry-run", about: "what would change" },
    {
      line: "vocalhost deploy --vendor-viva-audio-filter tel --yes",
      about: "with voice isolation, without questions",
    },
    { line: "vocalhost deploy my-agent registry.example.com/team/bot:1.2", about: "an image" },
    { line: "vocalhost deploy --force", about: "again, for instance with changed secrets" },
  ],
  load: async () => (await import("../deploy/run-deploy.ts")).run,
});

const buildList = defineCommand({
  name: "build list",
  summary: "list builds",
  description: "Lists builds, newest first.",
  options: {
    limit: number({
      takes: "count",
      short: "n",
      parse: parseWholeNumber({ min: 1, max: 100 }),
      help: "how many (default: 10)",
    }),
    status: optionalChoice({
      values: ["pending", "building", "success", "failed", "timeout"],
      short: "s",
      help: "only these",
    }),
    region: text({ takes: "code", short: "r", help: "only in this region" }),
    ...serviceOptions,
  },
  examples: [{ line: "vocalhost build list --status failed", about: "recent failures" }],
  load: async () => (await import("../builds/builds.ts")).list,
});

const buildLogs = defineCommand({
  name: "build logs",
  summary: "show what a build printed",
  description: "Shows the log of a build, and how it ended.",
  arguments: { id: word({ help: "id of the build, or the start of it" }) },
  options: {
    limit: number({
      takes: "lines",
      short: "n",
      parse: parseWholeNumber({ min: 1, max: 10_000 }),
      help: "how many (default: 500)",
    }),
    ...serviceOptions,
  },
  examples: [{ line: "vocalhost build logs 3f2a9c04", about: "from its beginning" }],
  load: async () => (await import("../builds/builds.ts")).logs,
});

export const buildCommands = [buildList, buildLogs];

export const logs = defineCommand({
  name: "logs",
  summary: "show what an agent prints, on all instances",
  description:
    "Shows the lines an agent's instances have printed, with time and instance. With -f it also follows new lines until " +
    "Ctrl-C, and reconnects where it stopped if the connection is lost.",
  arguments: { agent: optionalWord({ help: "name of the agent (default: agent_name in vocalhost.toml)" }) },
  options: {
    follow: flag({ short: "f", help: "follow new lines" }),
    limit: number({
      takes: "lines",
      short: "n",
      parse: parseWholeNumber({ min: 1, max: 10_000 }),
      help: "how many; not with -f (default: 100)",
    }),
    level: optionalChoice({ values: logLevels, short: "l", help: "this level and above" }),
    deployment: text({
      takes: "id",
      short: "d",
      help: "only from this deployment (id or its start)",
    }),
    sessionId: text({ takes: "id", short: "s", help: "only from this session (id or its start)" }),
    region: text({ takes: "code", short: "r", help: "only from this region" }),
    search: text({ takes: "text", help: "only lines that contain this" }),
    ...serviceOptions,
  },
  examples: [
    { line: "vocalhost logs -f", about: "the agent of this folder, live" },
    { line: "vocalhost logs my-agent --limit 500 --level WARNING", about: "recent failures" },
    { line: "vocalhost logs my-agent --session-id 3f2a9c04", about: "one call" },
    { line: "vocalhost logs my-agent -f --json", about: "one JSON object per line" },
  ],
  load: async () => (await import("../logs/run-logs.ts")).run,
});
