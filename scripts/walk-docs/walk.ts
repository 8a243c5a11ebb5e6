import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeWav } from "../../packages/audio/src/index.ts";
import { listPages, readBlocks } from "./blocks.ts";
import { toScript } from "./page-script.ts";
import type { World } from "./world.ts";

/** How one page went. */
export interface WalkedPage {
  page: string;
  commands: number;
  /** The output of its shell, if a command failed; the last line that begins with `@@` names it. */
  failure: string | undefined;
}

export interface WalkOptions {
  isFull: boolean;
  /** Whether `node` reads TypeScript. */
  readsTypes: boolean;
  /** Gives the folder in which a reader of the page would be, with a bot in it. */
  projectFor(page: string): string;
  isWanted?(page: string): boolean;
  /** Hears of every page as it is done. */
  walked?(page: WalkedPage): void;
}

const TOOLS = import.meta.dirname;
const PAGE_MAX_MS = 15 * 60_000;
const START_MAX_MS = 10 * 60_000;

/** Files and steps that the commands of a page build on. */
const GIVEN: Record<string, string> = {
  "docs/cli.md": `vocalhost secrets set my-bot-secrets MODEL_KEY=none --yes; fpath=("" "$HOME")`,
  "docs/carriers/README.md": "serve 'localhost:' env VOCALHOST_PORT=$RUNNER_PORT vocalhost dev bot.ts",
  "docs/hosted/rest.md": "mkdir -p my-bot && cp bot.ts my-bot/",
  "docs/hosted/operating.md": "of_this_machine",
  "docs/hosted/server.md": "of_this_machine",
};

/** A service as `/var/lib/vocalhost` would have it: what runs here, moved there. */
const OF_THIS_MACHINE = `
of_this_machine() {
  vocalhost backup "$ROOT/moved.tar.gz" --data-dir "$SERVICE_DATA"
  vocalhost restore "$ROOT/moved.tar.gz" --data-dir "$ROOT/var/lib/vocalhost"
  echo "VOCALHOST_DATABASE_URL=$DATABASE_URL" > vocalhost.env
  echo "VOCALHOST_DATA_DIR=$ROOT/var/lib/vocalhost" >> vocalhost.env
}
`;

/** Every page's commands, in reading order, while the service runs. */
export async function walkPages(world: World, options: WalkOptions): Promise<WalkedPage[]> {
  const done: WalkedPage[] = [];
  for (const page of listPages(world.clone).filter((each) => options.isWanted?.(each) ?? true)) {
    const walked = await walkPage(world, page, options);
    if (walked.commands === 0) continue;
    options.walked?.(walked);
    done.push(walked);
  }
  return done;
}

async function walkPage(world: World, page: string, options: WalkOptions): Promise<WalkedPage> {
  const root = join(world.folder, "root", page.replaceAll("/", "-"));
  const { text, commands } = toScript(readBlocks(world.clone, page), { world, root, ...options });
  if (commands === 0) return { page, commands, failure: undefined };
  for (const path of ["var/lib", "backups"]) mkdirSync(join(root, path), { recursive: true });
  const script = join(root, "commands.sh");
  const prelude = readFileSync(join(TOOLS, "prelude.sh"), "utf8");
  writeFileSync(script, [prelude, OF_THIS_MACHINE, GIVEN[page] ?? "", text, "hush\n"].join("\n"));
  const environment = {
    ...world.environment,
    WALK: root,
    WALK_TOOLS: TOOLS,
    ROOT: root,
    RUNNER_PORT: String(world.runnerPort),
    SERVICE_DATA: world.dataFolder,
    DATABASE_URL: world.databaseUrl ?? "",
  };
  const ran = await runShell(["bash", script], {
    folder: options.projectFor(page),
    environment,
    maxMs: PAGE_MAX_MS,
  });
  return { page, commands, failure: ran.code === 0 ? undefined : ran.output };
}

/** A folder as a reader's own: a bot, its settings, something to say, and the packages. */
export function layProject(folder: string, { clone, packages }: ProjectOptions): string {
  mkdirSync(folder, { recursive: true });
  const bot = readBlocks(clone, "README.md").find(({ file }) => file === "bot.ts");
  writeFileSync(join(folder, "bot.ts"), bot?.text ?? "");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  writeFileSync(join(folder, "vocalhost.toml"), 'agent_name = "my-bot"\n');
  if (packages !== undefined) symlinkSync(packages, join(folder, "node_modules"));
  writeHello(folder);
  return folder;
}

export interface ProjectOptions {
  clone: string;
  /** Left out in a clone, whose own are found. */
  packages?: string;
}

export function writeHello(folder: string): void {
  const samples = Int16Array.from(
    { length: 8_000 },
    (_, at) => 6_000 * Math.sin(at / 5) * Math.sin(at / 900),
  );
  writeFileSync(join(folder, "hello.wav"), writeWav({ samples, sampleRateHz: 8_000 }));
}

/** The service, as the README starts it; the walk is signed in to it. Ends with what it gives. */
export async function startService(world: World, command: string, folder: string): Promise<AsyncDisposable> {
  const child = spawn("bash", ["-c", `exec ${command}`], {
    cwd: folder,
    env: {
      ...world.environment,
      VOCALHOST_PORT: String(world.servicePort),
      VOCALHOST_DATA_DIR: world.dataFolder,
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // a terminal's signal goes to all of its processes
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const service = {
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGINT");
      await exited;
    },
  };
  try {
    const deadline = performance.now() + START_MAX_MS;
    while (!/Vocalhost is running/.test(output) || !(await isServing(world))) {
      if (child.exitCode !== null || performance.now() > deadline) throw new Error(`${command}:\n${output}`);
      await sleep(200);
    }
    const { publicKey } = JSON.parse(readFileSync(join(world.dataFolder, "first-run.json"), "utf8")) as {
      publicKey: string;
    };
    world.publicKey = publicKey;
    const login = `jq -r .privateKey '${world.dataFolder}/first-run.json' |
      vocalhost auth login --api-key --url http://localhost:${world.servicePort}
      vocalhost keys create --default`;
    const signedIn = await runShell(["bash", "-euo", "pipefail", "-c", login], {
      folder: world.home,
      environment: world.environment,
      maxMs: PAGE_MAX_MS,
    });
    if (signedIn.code !== 0) throw new Error(signedIn.output);
    return service;
  } catch (error) {
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

async function isServing({ servicePort }: World): Promise<boolean> {
  return fetch(`http://localhost:${servicePort}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

export interface ShellOptions {
  folder: string;
  environment: Record<string, string>;
  maxMs: number;
}

export async function runShell(
  [program = "", ...words]: string[],
  { folder, environment, maxMs }: ShellOptions,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, words, { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const late = setTimeout(() => {
    output += `\nnot done after ${maxMs} ms`;
    child.kill("SIGTERM");
  }, maxMs);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(late);
  return { code, output };
}
