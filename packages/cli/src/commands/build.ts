import { number, optionalChoice, parseWholeNumber, text, word } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { serviceOptions } from "../service/service-options.ts";

const list = defineCommand({
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
  load: () => import("../builds/run-list.ts"),
});

const logs = defineCommand({
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
  load: () => import("../builds/run-logs.ts"),
});

export const buildCommands = [list, logs];
