import { Argument, InvalidArgumentError, Option, type Command } from "commander";
import type {
  ArgumentTable,
  ArgumentValues,
  CommandArgument,
  CommandOption,
  OptionTable,
  OptionValues,
} from "./command-option.ts";
import type { CommandNode } from "./completion/command-node.ts";
import type { Ui } from "./ui.ts";

/** A command as data: what it is called, what it takes, examples, and where its body is. */
export interface CommandDefinition<Options extends OptionTable, Arguments extends ArgumentTable> {
  /** `call`, or noun and verb: `secrets set`. */
  name: string;
  summary: string;
  description: string;
  arguments?: Arguments;
  options: Options;
  /** Options it does not know are not refused: it gets them and all words as `context.rest`. */
  takesTheRest?: boolean;
  examples: readonly Example[];
  /** Imported only when the command runs, so that `--help` stays quick. */
  load: () => Promise<
    (options: OptionValues<Options> & ArgumentValues<Arguments>, context: CommandContext) => Promise<number>
  >;
}

export interface Example {
  line: string;
  about: string;
}

export interface CommandContext {
  ui: Ui;
  isJson: boolean;
  /** Every question is answered with yes, so none is asked. */
  isYes: boolean;
  /** Aborts at Ctrl-C. */
  signal: AbortSignal;
  /** Words, and options the command does not know, if it takes them. */
  rest: readonly string[];
  /** All commands there are. */
  tree: () => CommandNode;
}

export interface DefinedCommand {
  /** Adds itself to the program; `onRun` gets its body when the user asks for it. */
  addTo(program: Command, onRun: (body: CommandBody, options: CommonOptions) => Promise<void>): void;
}

/** The options of every command. */
export type CommonOptions = Pick<CommandContext, "isJson" | "isYes" | "rest">;

/** Gives the exit code. */
export type CommandBody = (context: CommandContext) => Promise<number>;

type NoArguments = { readonly [Name in never]: CommandArgument };

export function defineCommand<
  const Options extends OptionTable,
  const Arguments extends ArgumentTable = NoArguments,
>(definition: CommandDefinition<Options, Arguments>): DefinedCommand {
  const argumentTable: ArgumentTable = definition.arguments ?? {};
  return {
    addTo(program, onRun) {
      const names = definition.name.split(" ");
      const name = names.pop() ?? "";
      const parent = names.reduce(groupOf, program);
      const command = parent.command(name).summary(definition.summary).description(definition.description);
      for (const [key, argument] of Object.entries(argumentTable))
        command.addArgument(toArgument(key, argument));
      for (const [key, option] of Object.entries(definition.options)) command.addOption(toFlag(key, option));
      command.option("--json", "print JSON instead of text");
      command.option("-y, --yes", "answer yes to every question");
      command.addHelpText("after", `\nExamples:\n${exampleLines(definition.examples)}`);
      command.allowExcessArguments(definition.takesTheRest ?? false);
      command.allowUnknownOption(definition.takesTheRest ?? false);
      command.action(async () => {
        const options = command.opts<Record<string, unknown>>();
        const values = { ...options, ...argumentValues(command, argumentTable) };
        const rest = definition.takesTheRest ? command.args : [];
        await onRun(
          async (context) => {
            const run = await definition.load();
            return run(values as OptionValues<Options> & ArgumentValues<Arguments>, context);
          },
          { isJson: options["json"] === true, isYes: options["yes"] === true, rest },
        );
      });
    },
  };
}

function groupOf(program: Command, word: string): Command {
  return program.commands.find((command) => command.name() === word) ?? program.command(word);
}

function toArgument(key: string, argument: CommandArgument): Argument {
  const name = argument.shown ?? key;
  const usage = { one: `<${name}>`, "one-or-none": `[${name}]`, any: `[${name}...]` }[argument.takes];
  const made = new Argument(usage, argument.help);
  return argument.values ? made.choices(argument.values) : made;
}

function argumentValues(command: Command, table: ArgumentTable): Record<string, unknown> {
  return Object.fromEntries(Object.keys(table).map((key, at) => [key, command.processedArgs[at]]));
}

function toFlag(key: string, option: CommandOption): Option {
  const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const short = option.short ? `-${option.short}, ` : "";
  const value = option.takes === "nothing" ? "" : ` <${option.takes}>`;
  const flag = new Option(`${short}--${option.isNegated ? "no-" : ""}${name}${value}`, option.help);
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
