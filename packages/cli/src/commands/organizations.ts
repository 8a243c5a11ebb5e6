import { text, word } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { serviceOptions } from "../service/service-options.ts";

const list = defineCommand({
  name: "organizations list",
  summary: "list the organisations you belong to",
  description: "Lists the organisations you belong to, with your role in each.",
  options: serviceOptions,
  examples: [{ line: "vocalhost organizations list", about: "yours" }],
  load: () => import("../organizations/run-list.ts"),
});

const create = defineCommand({
  name: "organizations create",
  summary: "create another organisation",
  description:
    "Creates an organisation with agents, keys, secrets, members and a bill of its own; you become its owner. " +
    "Owners of the service's first organisation may do this, signed in as themselves.",
  arguments: { name: word({ help: "its name: 2 to 54 lower-case letters, digits and hyphens" }) },
  options: {
    title: text({ takes: "title", short: "t", help: "what people read (default: the name)" }),
    ...serviceOptions,
  },
  examples: [
    { line: 'vocalhost organizations create acme --title "Acme Ltd"', about: "another one" },
    { line: "vocalhost deploy --organization acme", about: "and something in it" },
  ],
  load: () => import("../organizations/run-create.ts"),
});

const quotas = defineCommand({
  name: "organizations quotas",
  summary: "show how much an organisation has and may have",
  description: "Shows agents, instances, builds and disk of your organisation beside their limits.",
  options: serviceOptions,
  examples: [{ line: "vocalhost organizations quotas --organization acme", about: "of one of several" }],
  load: () => import("../organizations/run-quotas.ts"),
});

export const organizationsCommands = [list, create, quotas];
