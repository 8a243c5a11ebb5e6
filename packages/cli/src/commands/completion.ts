import { wordOf } from "../command-option.ts";
import { shells } from "../completion/shells.ts";
import { defineCommand } from "../define-command.ts";

export const completion = defineCommand({
  name: "completion",
  summary: "print a script that completes commands in your shell",
  description: "Prints a script for your shell that completes commands, options and their values.",
  arguments: { shell: wordOf({ values: shells, help: "your shell" }) },
  options: {},
  examples: [
    { line: "source <(vocalhost completion bash)", about: "for this terminal; in ~/.bashrc for all" },
    { line: 'vocalhost completion zsh > "${fpath[1]}/_vocalhost"', about: "for zsh" },
    { line: "vocalhost completion fish > ~/.config/fish/completions/vocalhost.fish", about: "for fish" },
  ],
  load: () => import("../completion/run-completion.ts"),
});
