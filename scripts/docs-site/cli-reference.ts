import { Command } from "commander";
import { commands, groupSummaries } from "../../packages/cli/src/main.ts";
import { cell } from "./table.ts";

/** Returns a page with every command, its arguments, options and examples, from their declarations. */
export function cliReference(): string {
  const program = new Command("vocalhost");
  for (const command of commands) command.addTo(program, async () => {});
  const sections = program.commands.map((command) =>
    command.commands.length === 0
      ? describeCommand(command, `vocalhost ${command.name()}`, 2)
      : [
          `## vocalhost ${command.name()}`,
          sentence(groupSummaries[command.name()] ?? ""),
          ...command.commands.map((each) =>
            describeCommand(each, `vocalhost ${command.name()} ${each.name()}`, 3),
          ),
        ].join("\n\n"),
  );
  return `# All commands

Generated from the command line's own declarations; \`vocalhost COMMAND --help\` prints the same. The page
[Command line](../cli.md) explains how the commands work together.

${sections.join("\n\n")}
`;
}

function describeCommand(command: Command, name: string, depth: number): string {
  const usage = [name, ...command.registeredArguments.map(shownArgument), "[options]"].join(" ");
  const rows = [
    ...command.registeredArguments.map((argument) => [shownArgument(argument), argument.description, ""]),
    ...command.options.map(({ flags, description, defaultValue, defaultValueDescription, argChoices }) => [
      flags,
      description + (argChoices ? ` (${argChoices.join(", ")})` : ""),
      defaultValueDescription ??
        (defaultValue === undefined || defaultValue === false ? "" : String(defaultValue)),
    ]),
  ];
  return `${"#".repeat(depth)} ${name}

${escaped(command.description())}

\`\`\`sh
${usage}
\`\`\`

| Option | | Default |
| --- | --- | --- |
${rows.map(([flags = "", about = "", value = ""]) => `| \`${flags.replaceAll("|", "\\|")}\` | ${cell(about)} | ${cell(value)} |`).join("\n")}
${examplesOf(command)}`;
}

function shownArgument(argument: Command["registeredArguments"][number]): string {
  const shown = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${shown}>` : `[${shown}]`;
}

/** Returns the examples, which `defineCommand` keeps in the help text only. */
function examplesOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  const examples = text.split("\nExamples:\n")[1]?.trimEnd();
  return examples
    ? `\n\`\`\`sh\n${examples.replaceAll(/^ {2}/gm, "").replaceAll(/(\S) {2,}(\S)/g, "$1  # $2")}\n\`\`\``
    : "";
}

function sentence(text: string): string {
  return text === "" ? "" : `${text.charAt(0).toUpperCase()}${escaped(text.slice(1))}.`;
}

function escaped(text: string): string {
  return text.replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;");
}
