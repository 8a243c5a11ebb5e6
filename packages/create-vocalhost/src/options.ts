import { parseArgs } from "node:util";

export const templates = ["parrot", "assistant", "web"] as const;
export type Template = (typeof templates)[number];

export const packageManagers = ["npm", "pnpm", "yarn", "bun"] as const;
export type PackageManager = (typeof packageManagers)[number];

/** The parsed command line. */
export interface Options {
  folder: string | undefined;
  template: Template;
  install: boolean;
  packageManager: PackageManager;
  isYes: boolean;
  isJson: boolean;
  wantsHelp: boolean;
  wantsVersion: boolean;
  /** Where packages come from, other than the registry: name → what npm understands. */
  sources: Record<string, string>;
}

/** The command line cannot be understood. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function parseOptions(args: readonly string[], startedBy: string | undefined): Options {
  const { values, positionals } = parse(args);
  if (positionals.length > 1)
    throw new UsageError(`Name one folder only: what is "${positionals.slice(1).join(" ")}"?`);
  return {
    folder: positionals[0],
    template: oneOf(values.template ?? "parrot", templates, "--template"),
    install: !values["no-install"],
    packageManager: values["package-manager"]
      ? oneOf(values["package-manager"], packageManagers, "--package-manager")
      : (packageManagers.find((name) => name === startedBy) ?? "npm"),
    isYes: values.yes ?? false,
    isJson: values.json ?? false,
    wantsHelp: values.help ?? false,
    wantsVersion: values.version ?? false,
    sources: Object.fromEntries((values.source ?? []).map(parseSource)),
  };
}

export const HELP = `Creates a new voice bot project, ready to run, test and deploy.

Usage: npm create vocalhost [folder] [-- options]

Options:
  -t, --template <name>         what the bot does: parrot repeats what you say and needs no key (default),
                                assistant talks with the models of an OpenAI-compatible service,
                                web is such a bot with a web page in React to talk to it
      --no-install              do not install packages
      --package-manager <name>  npm, pnpm, yarn or bun (default: the one you use)
      --source <name=spec>      take a package from somewhere else: vocalhost=file:../vocalhost.tgz
  -y, --yes                     ask nothing; the folder is my-bot unless you name it
      --json                    print one JSON object instead of text
  -V, --version                 print the version
  -h, --help                    show this help

Examples:
  npm create vocalhost my-bot
  npm create vocalhost my-bot -- --template assistant
  npm create vocalhost my-site -- --template web
  npm create vocalhost my-bot -- --yes --no-install --json
`;

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        template: { type: "string", short: "t" },
        "no-install": { type: "boolean" },
        "package-manager": { type: "string" },
        source: { type: "string", multiple: true },
        yes: { type: "boolean", short: "y" },
        json: { type: "boolean" },
        version: { type: "boolean", short: "V" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message.split(". ")[0] ?? "", { cause: error });
  }
}

function oneOf<Name extends string>(given: string, names: readonly Name[], flag: string): Name {
  const found = names.find((name) => name === given);
  if (found) return found;
  throw new UsageError(`${flag} must be one of ${names.join(", ")}, not "${given}"`);
}

function parseSource(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`--source must have the form name=spec, not "${text}"`);
}
