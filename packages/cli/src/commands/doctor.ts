import { text } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { operateOptions } from "../operate/operate-options.ts";

export const doctor = defineCommand({
  name: "doctor",
  summary: "find out why callers cannot reach your bot",
  description:
    "Checks every hop between a caller and your bot and names the one that fails: project, ports, container engine, network " +
    "policy, disk, the service's address, gateway and controller, clocks, credentials, isolation of bots, ICE, and your " +
    "webhook as carriers reach it. Changes nothing.",
  options: {
    ...operateOptions,
    filter: text({
      takes: "agent",
      help: "call this agent with a talker in the background who begins before, during and after the caller, with and without its voice filter",
    }),
    apiKey: text({ takes: "key", help: "public key to call with (default: the one kept here)" }),
    webhook: text({ takes: "url", help: "address a carrier is given (default: VOCALHOST_PUBLIC_URL)" }),
  },
  examples: [
    { line: "vocalhost doctor", about: "everything from here" },
    {
      line: "vocalhost doctor --webhook https://bot.example.com/",
      about: "including the way of a phone call",
    },
    {
      line: "vocalhost doctor --filter my-bot",
      about: "does voice isolation keep others from interrupting it",
    },
    { line: "vocalhost doctor --json", about: "for monitoring; fails if a hop does" },
  ],
  load: async () => (await import("../doctor/run-doctor.ts")).run,
});
