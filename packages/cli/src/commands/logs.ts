import { flag, number, optionalChoice, optionalWord, parseWholeNumber, text } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { logLevels } from "../logs/level.ts";
import { serviceOptions } from "../service/service-options.ts";

export const logs = defineCommand({
  name: "logs",
  summary: "show what an agent prints, on all instances",
  description:
    "Shows the lines an agent's instances have printed, with time and instance; with -f also those to come, until " +
    "Ctrl-C. A lost connection is made again and goes on where it was.",
  arguments: { agent: optionalWord({ help: "name of the agent (default: agent_name of vocalhost.toml)" }) },
  options: {
    follow: flag({ short: "f", help: "go on with new lines" }),
    limit: number({
      takes: "lines",
      short: "n",
      parse: parseWholeNumber({ min: 1, max: 10_000 }),
      help: "how many; not with -f (default: 100)",
    }),
    level: optionalChoice({ values: logLevels, short: "l", help: "this and worse" }),
    deployment: text({ takes: "id", short: "d", help: "of one deployment" }),
    sessionId: text({ takes: "id", short: "s", help: "of one session" }),
    search: text({ takes: "text", help: "lines that contain this" }),
    ...serviceOptions,
  },
  examples: [
    { line: "vocalhost logs -f", about: "the agent of this folder, live" },
    { line: "vocalhost logs my-agent --limit 500 --level WARNING", about: "what went wrong lately" },
    { line: "vocalhost logs my-agent --session-id 0198…", about: "one call" },
    { line: "vocalhost logs my-agent -f --json", about: "one JSON object a line" },
  ],
  load: () => import("../logs/run-logs.ts"),
});
