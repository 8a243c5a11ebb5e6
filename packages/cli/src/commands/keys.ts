import { choice, flag, list as many, number, parseWholeNumber, text, word } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { serviceOptions } from "../service/service-options.ts";

const MANY = 1_000_000;

const list = defineCommand({
  name: "keys list",
  summary: "list API keys, masked",
  description:
    "Lists public and private keys with their limits and when they were last used. A whole key is never shown again.",
  options: { all: flag({ short: "a", help: "include revoked keys" }), ...serviceOptions },
  examples: [{ line: "vocalhost keys list --all", about: "with revoked ones" }],
  load: async () => (await import("../keys/keys.ts")).list,
});

const create = defineCommand({
  name: "keys create",
  summary: "create an API key",
  description:
    "Creates a key and shows it once. A public key starts sessions and may appear in web pages. A private key manages " +
    "agents and belongs on servers.",
  options: {
    name: text({ takes: "name", short: "n", help: "name that says what the key is for" }),
    type: choice({ values: ["public", "private"], default: "public", short: "t", help: "kind of key" }),
    agent: many({
      takes: "name",
      help: "agent that a public key may start; may be repeated",
      defaultText: "all",
    }),
    ratePerMinute: number({
      takes: "count",
      parse: parseWholeNumber({ min: 1, max: MANY }),
      help: "maximum starts per minute",
    }),
    concurrency: number({
      takes: "count",
      parse: parseWholeNumber({ min: 1, max: MANY }),
      help: "maximum concurrent sessions",
    }),
    expires: text({ takes: "date", help: "expiry date, such as 2027-01-31" }),
    default: flag({ short: "d", help: "use this key for vocalhost agent start and call" }),
    ...serviceOptions,
  },
  examples: [
    {
      line: "vocalhost keys create --name website --agent my-agent --rate-per-minute 60",
      about: "for a web page",
    },
    { line: "vocalhost keys create --default", about: "for vocalhost agent start" },
    { line: "vocalhost keys create --type private --name pipeline --json", about: "for a pipeline" },
  ],
  load: async () => (await import("../keys/keys.ts")).create,
});

const revoke = defineCommand({
  name: "keys revoke",
  summary: "revoke an API key",
  description: "Revokes a key. The service refuses all requests with it from now on; its record stays.",
  arguments: { id: word({ help: "id of the key, or the start of it, from vocalhost keys list" }) },
  options: serviceOptions,
  examples: [{ line: "vocalhost keys revoke 3f2a9c04", about: "asks first" }],
  load: async () => (await import("../keys/keys.ts")).revoke,
});

export const keysCommands = [list, create, revoke];
