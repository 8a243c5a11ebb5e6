import { defineCommand } from "../define-command.ts";
import { deployArguments, deployOptions } from "../deploy/deploy-options.ts";

export const deploy = defineCommand({
  name: "deploy",
  summary: "build a bot and roll it out",
  description:
    "Builds the bot's folder on the service, or takes an image, and rolls it out while calls in progress continue. Shows " +
    "every state with its reason and fails if the deployment does. Options override vocalhost.toml; whatever neither sets " +
    "keeps its deployed value.",
  arguments: deployArguments,
  options: deployOptions,
  examples: [
    { line: "vocalhost deploy", about: "this folder, as vocalhost.toml says" },
    {
      line: "vocalhost deploy my-agent --min-agents 1 --secrets my-secrets",
      about: "named, one instance ready",
    },
    { line: "vocalhost deploy --dry-run", about: "what would change" },
    {
      line: "vocalhost deploy --vendor-viva-audio-filter tel --yes",
      about: "with voice isolation, no questions",
    },
    { line: "vocalhost deploy my-agent registry.example.com/team/bot:1.2", about: "an image" },
    { line: "vocalhost deploy --force", about: "again, for instance with changed secrets" },
  ],
  load: () => import("../deploy/run-deploy.ts"),
});
