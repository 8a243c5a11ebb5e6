import { flag, negatedFlag, optionalWord, text, word, words } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { serviceOptions } from "../service/service-options.ts";

const set = word({ help: "name of the set" });
const region = text({
  takes: "code",
  short: "r",
  help: "region of a new set (default: your organisation's region)",
});

const list = defineCommand({
  name: "secrets list",
  summary: "list secret sets, or the keys of one",
  description:
    "Lists secret sets, or the keys of one set. Values are never shown: the service does not return them.",
  arguments: { set: optionalWord({ help: "name of a set" }) },
  options: {
    sets: flag({ short: "s", help: "leave out image-pull secrets" }),
    region: text({ takes: "code", short: "r", help: "only in this region" }),
    ...serviceOptions,
  },
  examples: [
    { line: "vocalhost secrets list", about: "all sets" },
    { line: "vocalhost secrets list my-secrets", about: "the keys of one" },
  ],
  load: async () => (await import("../secrets/secrets.ts")).list,
});

const put = defineCommand({
  name: "secrets set",
  summary: "store secrets in a set",
  description:
    "Stores secrets in a set, all or none. Other keys of the set stay. The bot reads each secret as an environment " +
    "variable. Arguments end up in your shell's history: prefer --file, or --file - for standard input.",
  arguments: { set, pairs: words({ shown: "KEY=VALUE", help: "secrets" }) },
  options: {
    file: text({ takes: "path", short: "f", help: "a file of KEY=VALUE lines; - is standard input" }),
    region,
    ...serviceOptions,
  },
  examples: [
    { line: "vocalhost secrets set my-secrets --file .env", about: "from a file" },
    { line: "vocalhost secrets set my-secrets MODEL_KEY=abc GREETING=hello", about: "from the command line" },
    {
      line: "pass show model | vocalhost secrets set my-secrets --file - --yes",
      about: "from another program",
    },
  ],
  load: async () => (await import("../secrets/secrets.ts")).set,
});

const unset = defineCommand({
  name: "secrets unset",
  summary: "remove a secret from a set",
  description: "Removes one key from a set.",
  arguments: { set, key: word({ help: "the key" }) },
  options: serviceOptions,
  examples: [{ line: "vocalhost secrets unset my-secrets MODEL_KEY", about: "asks first" }],
  load: async () => (await import("../secrets/secrets.ts")).unset,
});

const remove = defineCommand({
  name: "secrets delete",
  summary: "delete a set",
  description: "Deletes a set and everything in it.",
  arguments: { set },
  options: serviceOptions,
  examples: [{ line: "vocalhost secrets delete my-secrets --yes", about: "does not ask" }],
  load: async () => (await import("../secrets/secrets.ts")).remove,
});

const imagePull = defineCommand({
  name: "secrets image-pull-secret",
  summary: "store the login for an image registry",
  description:
    "Stores the login the service uses to pull images from a registry. Prompts for it if you give none.",
  arguments: {
    set,
    host: word({ help: "the registry, for example registry.example.com" }),
    login: optionalWord({ shown: "user:token", help: "the login" }),
  },
  options: { region, encode: negatedFlag({ help: "the login is base64 already" }), ...serviceOptions },
  examples: [
    {
      line: "vocalhost secrets image-pull-secret my-registry registry.example.com",
      about: "asks for the login",
    },
    { line: "vocalhost deploy --credentials my-registry", about: "uses it" },
  ],
  load: async () => (await import("../secrets/secrets.ts")).imagePullSecret,
});

export const secretsCommands = [list, put, unset, remove, imagePull];
