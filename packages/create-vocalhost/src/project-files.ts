import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PackageManager, Template } from "./options.ts";
import { version } from "./version.ts";

interface ProjectOptions {
  /** Name of the folder. */
  name: string;
  template: Template;
  packageManager: PackageManager;
  sources: Record<string, string>;
}

const TEMPLATES = fileURLToPath(new URL("../template/", import.meta.url));
const ENDING = ".template"; // or tools would take them for files of this package

const APPENDED = ".append"; // to the file of that name that all projects have

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
  const files = new Map([["package.json", manifest(agentName, options)]]);
  for (const folder of ["common", options.template])
    for (const name of templatesIn(join(TEMPLATES, folder))) {
      const text = readFileSync(join(TEMPLATES, folder, name), "utf8");
      const filled = text.replaceAll(/\{\{([A-Z_]+)\}\}/g, (_, word: string) => words[word] ?? "");
      const path = name.slice(0, -ENDING.length).replaceAll("\\", "/");
      if (!path.endsWith(APPENDED)) files.set(path, filled);
      else {
        const whole = path.slice(0, -APPENDED.length);
        files.set(whole, `${files.get(whole) ?? ""}${filled}`);
      }
    }
  return files;
}

function templatesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(ENDING)).sort();
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
  web: "It listens, thinks and answers with the models of an OpenAI-compatible service; until you add its key to `.env`, it repeats what you say.",
};

function manifest(name: string, { sources, template }: ProjectOptions): string {
  // Packages of ours that these need are not the bot's; they are only said to come from elsewhere.
  const {
    vocalhost = `^${version}`,
    "@vocalhost/cli": cli = `^${version}`,
    "@vocalhost/control-plane": service, // only if it came along: a project that deploys elsewhere needs none
    ...overrides
  } = sources;
  const page = template === "web";
  const content = {
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: {
      dev: page ? PAGE_DEV : "vocalhost dev",
      check: page ? "tsc && tsc -p page" : "tsc",
      ...(page && { build: "tsc -p page && vite build" }),
      start: "node bot.ts",
      test: "node --test",
      call: "vocalhost call",
      deploy: "vocalhost deploy",
    },
    dependencies: { vocalhost },
    devDependencies: {
      "@types/node": "^24.0.0",
      "@vocalhost/cli": cli,
      ...(service !== undefined && { "@vocalhost/control-plane": service }),
      typescript: PAGE_PACKAGES["typescript"],
      ...(page && PAGE_PACKAGES),
    },
    ...(Object.keys(overrides).length > 0 && { overrides }),
    engines: { node: ">=20.12" },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** Bot and page together, and both end with whichever ends first. */
const PAGE_DEV = 'concurrently --kill-others --names bot,page "vocalhost dev --no-open" "vite --open"';

/**
 * The packages of a project's page, pinned to the versions of our own tests, which a test compares: the clients work
 * together only in certain versions. A bot is deployed without them.
 */
export const PAGE_PACKAGES: Record<string, string> = {
  "@pipecat-ai/client-js": "1.13.1",
  "@pipecat-ai/client-react": "1.8.2",
  "@pipecat-ai/small-webrtc-transport": "1.10.8",
  "@types/react": "19.3.0",
  "@types/react-dom": "19.3.0",
  "@vitejs/plugin-react": "6.1.2",
  concurrently: "9.2.5",
  react: "19.3.1",
  "react-dom": "19.3.1",
  typescript: "7.0.2",
  vite: "8.3.4",
};
