import { defineCommand } from "../define-command.ts";
import { serviceOptions } from "../service/service-options.ts";

const list = defineCommand({
  name: "regions list",
  summary: "list where agents can run",
  description: "Lists the regions in which agents can be deployed and secrets stored.",
  options: serviceOptions,
  examples: [
    { line: "vocalhost regions list", about: "codes and names" },
    { line: "vocalhost regions list --json", about: "for a script" },
  ],
  load: () => import("../regions/run-list.ts"),
});

export const regionsCommands = [list];
