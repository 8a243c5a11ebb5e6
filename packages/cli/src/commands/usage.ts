import { Month } from "@vocalhost/protocol";
import { flag, text } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { serviceOptions } from "../service/service-options.ts";

export const usage = defineCommand({
  name: "usage",
  summary: "show what voice isolation costs this month",
  description:
    "Shows the minutes of agents with the voice-isolation filter, what is free and what is billed, per UTC month.",
  options: {
    month: {
      ...text({ takes: "month", short: "m", help: "such as 2026-11 (default: this one)" }),
      parse(given: string) {
        if (!Month.safeParse(given).success)
          throw new Error(`"${given}" is not a month. For example: 2026-11.`);
        return given;
      },
    },
    csv: flag({ help: "every session as CSV" }),
    ...serviceOptions,
  },
  examples: [
    { line: "vocalhost usage", about: "this month so far" },
    { line: "vocalhost usage --month 2026-10 --csv > october.csv", about: "a month's sessions" },
  ],
  load: () => import("../usage/run-usage.ts"),
});
