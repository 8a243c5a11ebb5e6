import { text } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { operateOptions } from "../operate/operate-options.ts";

export const doctor = defineCommand({
  name: "doctor",
  summary: "find out why callers cannot reach your bot",
  description:
    "Checks every hop between a caller and your bot and names the one that fails: the project, ports, container engine, disk, " +
    "the service's address, gateway and controller, clocks, credentials, ICE, and whether carriers reach your webhook. " +
    "Changes nothing.",
  options: {
    ...operateOptions,
    webhook: text({ takes: "url", help: "address a carrier is given (default: VOCALHOST_PUBLIC_URL)" }),
  },
  examples: [
    { line: "vocalhost doctor", about: "everything from here" },
    {
      line: "vocalhost doctor --webhook https://bot.example.com/",
      about: "including the path of a phone call",
    },
    { line: "vocalhost doctor --json", about: "for monitoring; fails if a hop does" },
  ],
  load: () => import("../doctor/run-doctor.ts"),
});
