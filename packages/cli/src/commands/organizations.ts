import { Month } from "@vocalhost/protocol";
import { flag, text, word } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { serviceOptions } from "../service/service-options.ts";

const list = defineCommand({
  name: "organizations list",
  summary: "list the organisations you belong to",
  description: "Lists the organisations you belong to, with your role in each.",
  options: serviceOptions,
  examples: [{ line: "vocalhost organizations list", about: "yours" }],
  load: async () => (await import("../organizations/organizations.ts")).list,
});

const create = defineCommand({
  name: "organizations create",
  summary: "create another organisation",
  description:
    "Creates an organisation with its own agents, keys, secrets, members and bill. You become its owner. " +
    "Only owners of the service's first organisation may do this, and only with a personal sign-in.",
  arguments: { name: word({ help: "its name: 2 to 54 lower-case letters, digits and hyphens" }) },
  options: {
    title: text({ takes: "title", short: "t", help: "display name (default: the name)" }),
    ...serviceOptions,
  },
  examples: [
    { line: 'vocalhost organizations create acme --title "Acme Ltd"', about: "another one" },
    { line: "vocalhost deploy --organization acme", about: "deploy to it" },
  ],
  load: async () => (await import("../organizations/organizations.ts")).create,
});

const quotas = defineCommand({
  name: "organizations quotas",
  summary: "show an organisation's use and quotas",
  description:
    "Shows the agents, instances, builds and disk space your organisation uses, with the limit of each.",
  options: serviceOptions,
  examples: [{ line: "vocalhost organizations quotas --organization acme", about: "of one of several" }],
  load: async () => (await import("../organizations/organizations.ts")).quotas,
});

export const organizationsCommands = [list, create, quotas];

const regions = defineCommand({
  name: "regions list",
  summary: "list where agents can run",
  description: "Lists the regions in which agents can be deployed and secrets stored.",
  options: serviceOptions,
  examples: [
    { line: "vocalhost regions list", about: "codes and names" },
    { line: "vocalhost regions list --json", about: "for a script" },
  ],
  load: async () => (await import("../organizations/organizations.ts")).listRegions,
});

export const regionsCommands = [regions];

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
  load: async () => (await import("../organizations/organizations.ts")).usage,
});
