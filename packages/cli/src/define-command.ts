import { InvalidArgumentError, Option, type Command } from "commander";
import type { CommandOption, OptionTable, OptionValues } from "./command-option.ts";
import type { Ui } from "./ui.ts";

/** A command as data: what it is called, what it takes, examples, and where its body is. */
export interface CommandDefinition<Options extends OptionTable> {
  /** `call`, or noun and verb: `secrets set`. */
  name: string;
  summary: string;
  description: string;
  options: Options;
  examples: readonly Example[];
  /** Imported only when the command runs, so that `--help` stays quick. */
  load: () => Promise<{ run: (options: OptionValues<Options>, context: CommandContext) => Promise<number> }>;
}

export interface Example {
  line: string;
  about: string;
}

export interface CommandContext {
  ui: Ui;
  isJson: boolean;
  /** Aborts at Ctrl-C. */
  signal: AbortSignal;
}

export interface DefinedCommand {
  /** Adds itself to the program; `onRun` gets its body when the user asks for it. */
  addTo(program: Command, onRun: (body: CommandBody, isJson: boolean) => Promise<void>): void;
}

/** Gives the exit code. */
export type CommandBody = (context: CommandContext) => Promise<number>;

export function defineCommand<const Options extends OptionTable>(
  definition: CommandDefinition<Options>,
): DefinedCommand {
  return {
    addTo(program, onRun) {
      const words = definition.name.split(" ");
      const name = words.pop() ?? "";
      const parent = words.reduce(groupOf, program);
      const command = parent.command(name).summary(definition.summary).description(definition.description);
      for (const [key, option] of Object.entries(definition.options)) command.addOption(toFlag(key, option));
      command.option("--json", "print one JSON object for programs, nothing for people");
      command.addHelpText("after", `\nExamples:\n${exampleLines(definition.examples)}`);
      command.allowExcessArguments(false);
      command.action(async (values: Record<string, unknown>) => {
        const isJson = values["json"] === true;
        await onRun(async (context) => {
          const { run } = await definition.load();
          return run(values as OptionValues<Options>, context);
        }, isJson);
      });
    },
  };
}

function groupOf(program: Command, word: string): Command {
  return program.commands.find((command) => command.name() === word) ?? program.command(word);
}

function toFlag(key: string, option: CommandOption): Option {
  const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const short = option.short ? `-${option.short}, ` : "";
  const value = option.takes === "nothing" ? "" : ` <${option.takes}>`;
  const flag = new Option(`${short}--${name}${value}`, option.help);
  if (option.values) flag.choices(option.values);
  else if (option.takes !== "nothing") {
    flag.argParser((text: string, before: unknown) => {
      const parsed = parsedOrRefused(option, text);
      return option.isList ? [...(Array.isArray(before) ? before : []), parsed] : parsed;
    });
  }
  if (option.defaultValue !== undefined) flag.default(option.defaultValue, option.defaultText);
  return flag;
}

function parsedOrRefused(option: CommandOption, text: string): unknown {
  try {
    return option.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function exampleLines(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(({ line }) => line.length));
  return examples.map(({ line, about }) => `  ${line.padEnd(width)}  ${about}`).join("\n");
}
