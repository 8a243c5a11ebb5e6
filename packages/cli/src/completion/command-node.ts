import type { Command, Option } from "commander";

/** A command as completion sees it. */
export interface CommandNode {
  name: string;
  summary: string;
  commands: CommandNode[];
  options: OptionNode[];
  /** The values of its first argument, if they are a closed list. */
  values: string[];
  /** Whether it takes words at all; shells then offer files. */
  takesWords: boolean;
}

export interface OptionNode {
  /** `--carrier`, `-c` */
  names: string[];
  help: string;
  takesValue: boolean;
  values: string[];
}

export function toCommandNode(command: Command): CommandNode {
  const [first] = command.registeredArguments;
  return {
    name: command.name(),
    summary: command.summary() || command.description(),
    commands: command.commands.map(toCommandNode),
    options: [...command.options.map(toOptionNode), HELP],
    values: first?.argChoices ? [...first.argChoices] : [],
    takesWords: first !== undefined,
  };
}

const HELP: OptionNode = { names: ["--help", "-h"], help: "show help", takesValue: false, values: [] };

function toOptionNode(option: Option): OptionNode {
  return {
    names: [option.long, option.short].filter((name) => name !== undefined && name !== null),
    help: option.description,
    takesValue: option.required || option.optional,
    values: option.argChoices ? [...option.argChoices] : [],
  };
}

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];
