import { flag, negatedFlag, text } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { operateOptions } from "../operate/operate-options.ts";
import { configFileOption, serviceOptions } from "../service/service-options.ts";

const login = defineCommand({
  name: "auth login",
  summary: "sign in to a service",
  description:
    "Signs in through a browser, on this machine or another: you confirm a code in the dashboard. The credentials " +
    "are kept in a file only you can read. Pipelines need no sign-in: they set VOCALHOST_API_KEY and VOCALHOST_API_URL.",
  options: {
    url: text({
      takes: "url",
      help: "address of the service (default: the last one, else http://localhost:7870)",
    }),
    apiKey: flag({ help: "sign in with a private key, read from standard input or a prompt" }),
    organization: text({ takes: "name", short: "o", help: "which organisation, if you belong to several" }),
    browser: negatedFlag({ help: "only print the address" }),
  },
  examples: [
    { line: "vocalhost auth login", about: "the service on this machine" },
    { line: "vocalhost auth login --url https://voice.example.com", about: "another one" },
    { line: "vocalhost auth login --api-key < key.txt", about: "with a private key" },
  ],
  load: async () => (await import("../auth/sign-in.ts")).login,
});

const logout = defineCommand({
  name: "auth logout",
  summary: "sign out and forget the credentials",
  description: "Ends this sign-in on the service and removes the credentials from this machine.",
  options: {},
  examples: [{ line: "vocalhost auth logout", about: "sign out" }],
  load: async () => (await import("../auth/sign-in.ts")).logout,
});

const whoami = defineCommand({
  name: "auth whoami",
  summary: "show which account you are signed in with",
  description: "Shows your account and organisation on the service, and where the credentials come from.",
  options: serviceOptions,
  examples: [
    { line: "vocalhost auth whoami", about: "you" },
    { line: "vocalhost auth whoami --json", about: "for a script" },
  ],
  load: async () => (await import("../auth/sign-in.ts")).whoami,
});

export const authCommands = [login, logout, whoami];

const show = defineCommand({
  name: "config show",
  summary: "show which settings are used, and where they come from",
  description:
    "Shows the service, the credential (masked), the organisation and vocalhost.toml of this folder, each with where it " +
    "comes from. With --service it shows every setting of the hosted service on this machine instead; secrets are " +
    "hidden. Does not use the network.",
  options: {
    configFile: configFileOption,
    service: flag({ help: "show the settings of the service on this machine" }),
    ...operateOptions,
  },
  examples: [
    { line: "vocalhost config show", about: "for this folder" },
    { line: "vocalhost config show --service", about: "all settings of the service, with their defaults" },
    { line: "vocalhost config show --json", about: "for a script" },
  ],
  load: async () => (await import("../configuration/run-show.ts")).run,
});

export const configCommands = [show];
