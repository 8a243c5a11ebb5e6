import { optionalWord } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { devOptions } from "../dev/dev-options.ts";

export const dev = defineCommand({
  name: "dev",
  summary: "run a bot on this machine and reload its code as you save",
  description:
    "Runs a bot on this machine and opens a page to talk to it. A saved file takes effect with the next session; calls in " +
    "progress stay on the code they started with. If the code is broken, the last working version keeps running. " +
    "All other options go to the runner (-t, -x, -f, --ws-auth, …; see node bot.ts --help). Put the bot's own options " +
    "after --.",
  arguments: {
    bot: optionalWord({ shown: "bot.ts", help: "the bot's file (default: bot.ts, bot.js or bot.mjs here)" }),
  },
  options: devOptions,
  takesTheRest: true,
  examples: [
    { line: "vocalhost dev", about: "bot.ts of this folder, at http://localhost:7860" },
    { line: "vocalhost dev src/bot.ts --port 7861 --no-open", about: "another file and port, no browser" },
    { line: "vocalhost dev --watch prompts", about: "also restart when a prompt changes" },
    { line: "vocalhost dev -t twilio --proxy bot.example.com", about: "the runner's own options" },
    { line: "vocalhost dev -- --voice ann", about: "an option of the bot's own" },
    { line: "vocalhost dev --voice-filter tel", about: "with the voice isolation of the hosted service" },
    { line: "vocalhost dev --json", about: "one JSON object per line, for programs" },
  ],
  load: async () => (await import("../dev/run-dev.ts")).run,
});
