import { flag, negatedFlag, text } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { serviceOptions } from "../service/service-options.ts";

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
  load: () => import("../auth/run-login.ts"),
});

const logout = defineCommand({
  name: "auth logout",
  summary: "sign out and forget the credentials",
  description: "Ends this sign-in on the service and removes the credentials from this machine.",
  options: {},
  examples: [{ line: "vocalhost auth logout", about: "sign out" }],
  load: () => import("../auth/run-logout.ts"),
});

const whoami = defineCommand({
  name: "auth whoami",
  summary: "show who the service thinks you are",
  description:
    "Asks the service who you are, in which organisation, and shows where the credentials come from.",
  options: serviceOptions,
  examples: [
    { line: "vocalhost auth whoami", about: "you" },
    { line: "vocalhost auth whoami --json", about: "for a script" },
  ],
  load: () => import("../auth/run-whoami.ts"),
});

export const authCommands = [login, logout, whoami];
