import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { version } from "./version.ts";
import type { PackageManager, Template } from "./options.ts";

export interface ProjectOptions {
  /** Name of the folder. */
  name: string;
  template: Template;
  packageManager: PackageManager;
  sources: Record<string, string>;
}

const TEMPLATES = fileURLToPath(new URL("../template/", import.meta.url));
const ENDING = ".template"; // or tools would take them for files of this package

/** Every file of a new project, by its path. */
export function projectFiles(options: ProjectOptions): Map<string, string> {
  const agentName = toAgentName(options.name);
  const words: Record<string, string> = {
    AGENT_NAME: agentName,
    RUN: options.packageManager === "npm" ? "npm run" : options.packageManager,
    RUNNER: { npm: "npx", pnpm: "pnpm exec", yarn: "yarn", bun: "bunx" }[options.packageManager],
    INSTALL: `${options.packageManager} install`,
    TEST: `${options.packageManager} test`,
    ABOUT: ABOUT[options.template],
  };
  const files = new Map([["package.json", manifest(agentName, options.sources)]]);
  for (const folder of ["common", options.template])
    for (const name of readdirSync(join(TEMPLATES, folder)).sort()) {
      const text = readFileSync(join(TEMPLATES, folder, name), "utf8");
      files.set(
        name.slice(0, -ENDING.length),
        text.replaceAll(/\{\{([A-Z_]+)\}\}/g, (_, word: string) => words[word] ?? ""),
      );
    }
  return files;
}

/** A name the service takes, as like the folder's as can be. */
export function toAgentName(folderName: string): string {
  const plain = folderName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, NAME_MAX_CHARACTERS)
    .replaceAll(/^-+|-+$/g, "");
  if (plain.length < 2) return `bot${plain && `-${plain}`}`;
  return plain.startsWith("start") ? `bot-${plain}` : plain; // such a name cannot be called
}

const NAME_MAX_CHARACTERS = 40;

const ABOUT: Record<Template, string> = {
  parrot:
    "It waits until you have finished, repeats what you said, and stops when you interrupt it. It needs no key.",
  assistant:
    "It listens, thinks and answers with the models of an OpenAI-compatible service. Add its key to `.env`: see `.env.example`.",
};

function manifest(name: string, sources: Record<string, string>): string {
  // Packages of ours that these two need are not the bot's; they are only said to come from elsewhere.
  const { vocalhost = `^${version}`, "@vocalhost/cli": cli = `^${version}`, ...overrides } = sources;
  const content = {
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: {
      dev: "vocalhost dev",
      start: "node bot.ts",
      test: "node --test",
      call: "vocalhost call",
      deploy: "vocalhost deploy",
    },
    dependencies: { vocalhost },
    devDependencies: { "@types/node": "^24.0.0", "@vocalhost/cli": cli },
    ...(Object.keys(overrides).length > 0 && { overrides }),
    engines: { node: ">=20.12" },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}
