import { text } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";

export const doctor = defineCommand({
  name: "doctor",
  summary: "find what stands between a caller and your bot",
  description:
    "Looks at every hop between a caller and your bot and names the one that fails: the project, ports, container engine, " +
    "the service's address, gateway and controller, clocks, credentials, ICE, and whether carriers reach your webhook. " +
    "Changes nothing.",
  options: {
    webhook: text({ takes: "url", help: "address a carrier is given (default: VOCALHOST_PUBLIC_URL)" }),
  },
  examples: [
    { line: "vocalhost doctor", about: "everything from here" },
    {
      line: "vocalhost doctor --webhook https://bot.example.com/",
      about: "with the way of a telephone call",
    },
    { line: "vocalhost doctor --json", about: "for a monitor; fails when a hop does" },
  ],
  load: () => import("../doctor/run-doctor.ts"),
});
