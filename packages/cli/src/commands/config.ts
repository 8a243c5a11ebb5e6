import { defineCommand } from "../define-command.ts";
import { configFileOption } from "../service/service-options.ts";

const show = defineCommand({
  name: "config show",
  summary: "show which settings are used, and where they come from",
  description:
    "Shows the service, the credential (masked), the organisation and vocalhost.toml of this folder, each with where it " +
    "comes from. Does not use the network.",
  options: { configFile: configFileOption },
  examples: [
    { line: "vocalhost config show", about: "for this folder" },
    { line: "vocalhost config show --json", about: "for a script" },
  ],
  load: () => import("../configuration/run-show.ts"),
});

export const configCommands = [show];
