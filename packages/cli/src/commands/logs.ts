import { flag, number, optionalChoice, optionalWord, parseWholeNumber, text } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { logLevels } from "../logs/level.ts";
import { serviceOptions } from "../service/service-options.ts";

export const logs = defineCommand({
  name: "logs",
  summary: "show what an agent prints, on all instances",
  description:
    "Shows the lines an agent's instances have printed, with time and instance; -f also follows new ones until " +
    "Ctrl-C. A lost connection is resumed where it stopped.",
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
      help: "only from this deployment; the start of its id will do",
    }),
    sessionId: text({ takes: "id", short: "s", help: "only from this session; the start of its id will do" }),
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
  load: () => import("../logs/run-logs.ts"),
});
