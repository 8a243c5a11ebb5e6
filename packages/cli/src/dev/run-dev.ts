import { existsSync, rmSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { readDevAddress } from "../config.ts";
import type { CommandContext } from "../define-command.ts";
import { exitCodes, Problem, usageProblem } from "../problem.ts";
import { confirm } from "../questions.ts";
import type { DevOptions } from "./dev-options.ts";
import { startFront, type Front } from "./front.ts";
import { startGeneration } from "./generation.ts";
import { createGenerations, type Generations } from "./generations.ts";
import { openBrowser } from "./open-browser.ts";
import { createScreen, type Screen, type ShownSession } from "./screen.ts";
import { watchFiles } from "./watch-files.ts";

/** `vocalhost dev` */
export async function run(options: DevOptions, context: CommandContext): Promise<number> {
  const workingFolder = process.cwd();
  const bot = findBot(withDashes(context.rest, process.argv), workingFolder);
  const { promise: quit, resolve, reject: refuse } = Promise.withResolvers<"quit">();
  context.signal.addEventListener("abort", () => resolve("quit"), { once: true });

  await using stack = new AsyncDisposableStack(); // ends what was started, the newest first
  const folder = await mkdtemp(join(tmpdir(), "vocalhost-dev-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const front = stack.use(await takePort(readAddress(options, workingFolder), context));
  const screen = stack.use(createScreen(context, bot.file));
  const endAtOnce = (): void => {
    generations.killAll();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", endAtOnce); // a second Ctrl-C does not wait
  stack.defer(() => void process.off("exit", endAtOnce));
  let isFirst = true;
  const generations: Generations = stack.use(
    createGenerations({
      start: (number) =>
        startGeneration({
          number,
          file: bot.file,
          flags: ["--host", front.host, "--port", String(front.port), ...bot.flags],
          workingFolder,
          socketPath: socketPath(folder, number),
          onLine: (line) => screen.line(line, number),
          onSessions: () => screen.sessions(liveSessions(generations)),
        }),
      onEvent(event) {
        if (event.type === "broken" && event.isMisused && isFirst) return refuse(misuse(event.lastWords));
        screen.event(event);
        screen.sessions(liveSessions(generations));
        if (event.type !== "ready" || !isFirst) return;
        isFirst = false;
        screen.ready(front.url);
        if (options.open && context.ui.isTerminal) openBrowser(front.url);
      },
    }),
  );
  front.serve(generations);
  stack.use(await startWatching(options, { botFile: bot.file, workingFolder, generations, screen }));
  generations.reload();
  stack.use(
    listenToKeys({
      o: () => openBrowser(front.url),
      r: () => generations.reload(),
      q: () => resolve("quit"),
    }),
  );
  await quit;
  const live = liveSessions(generations).length;
  if (live > 0) screen.note(`Ending ${live} live ${live === 1 ? "session" : "sessions"} …`);
  await stack.disposeAsync();
  if (context.isJson) context.ui.print(JSON.stringify({ event: "ended" }));
  else context.ui.note("Stopped. Nothing is left running.");
  return exitCodes.ok;
}

/** The parser drops the two dashes behind which the bot's own options are; the runner wants to see them. */
function withDashes(rest: readonly string[], argv: readonly string[]): string[] {
  const at = argv.indexOf("--");
  if (at < 0 || rest.includes("--")) return [...rest];
  return rest.toSpliced(rest.length - (argv.length - at - 1), 0, "--");
}

/** The runner has said what is wrong with its flags. */
function misuse(lastWords: string): Problem {
  const [what = "The runner does not understand its options"] = lastWords.split("\n");
  return usageProblem(what, "List the runner's own options: node bot.ts --help");
}

function readAddress(options: DevOptions, workingFolder: string): { host: string; port: number } {
  try {
    return readDevAddress(workingFolder, options);
  } catch (error) {
    throw usageProblem((error as Error).message, "Set VOCALHOST_PORT to one, or use --port 7860.");
  }
}

async function takePort(address: { host: string; port: number }, context: CommandContext): Promise<Front> {
  try {
    return await startFront(address);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem = listenProblem(code, address);
    if (!problem) throw error;
    const canAsk = context.ui.isTerminal && process.stdin.isTTY && !context.isYes;
    if (code !== "EADDRINUSE" || !canAsk) throw problem;
    const next = { ...address, port: address.port + 1 };
    if (!(await confirm(context, `Port ${address.port} is in use. Use ${next.port} instead?`))) throw problem;
    return takePort(next, context);
  }
}

function listenProblem(
  code: string | undefined,
  { host, port }: { host: string; port: number },
): Problem | undefined {
  if (code === "EADDRINUSE")
    return new Problem("port_in_use", `Port ${port} on ${host} is in use`, {
      why: "Another program listens there, perhaps another bot.",
      fixes: ["Stop the other program.", `Choose another port: vocalhost dev --port ${port + 1}`],
    });
  if (code === "EACCES")
    return new Problem("port_forbidden", `You are not allowed to use port ${port}`, {
      fixes: ["Choose one above 1023: vocalhost dev --port 7860"],
    });
  if (code === "ENOTFOUND" || code === "EADDRNOTAVAIL")
    return new Problem("host_unknown", `${host} is not an address of this machine`, {
      fixes: ["Omit --host, or use --host 0.0.0.0 for all addresses."],
    });
  return undefined;
}

interface Watched {
  botFile: string;
  workingFolder: string;
  generations: Generations;
  screen: Screen;
}

async function startWatching(
  options: DevOptions,
  { botFile, workingFolder, generations, screen }: Watched,
): Promise<AsyncDisposable> {
  return watchFiles({
    folder: dirname(botFile),
    more: [...options.watch, join(workingFolder, ".env")],
    onChange(paths) {
      screen.changed(paths);
      generations.reload();
    },
    onError: (error) =>
      screen.note(`Cannot watch all files (${error.message}). Press r if a saved change goes unnoticed.`),
  });
}

function liveSessions(generations: Generations): ShownSession[] {
  const { newest, older } = generations;
  return [
    ...older
      .toReversed()
      .flatMap(({ sessions }) => sessions.map((session) => ({ ...session, isOnOldCode: true }))),
    ...(newest?.sessions ?? []).map((session) => ({ ...session, isOnOldCode: false })),
  ];
}

// Windows has pipes in a place of their own.
function socketPath(folder: string, number: number): string {
  return process.platform === "win32"
    ? `\\\\.\\pipe\\vocalhost-dev-${process.pid}-${number}`
    : join(folder, `${number}.sock`);
}

/** Keys that work while a command runs on a terminal. */
function listenToKeys(actions: Readonly<Record<string, () => void>>): Disposable {
  const { stdin } = process;
  if (!stdin.isTTY) return { [Symbol.dispose]: () => undefined };
  const onData = (bytes: Buffer): void => {
    for (const key of bytes.toString()) {
      if (key === CTRL_C) process.kill(process.pid, "SIGINT");
      else actions[key.toLowerCase()]?.();
    }
  };
  stdin.setRawMode(true);
  stdin.on("data", onData).resume();
  return {
    [Symbol.dispose]() {
      stdin.off("data", onData).pause();
      stdin.setRawMode(false);
    },
  };
}

const CTRL_C = "\u0003"; // in raw mode the terminal sends it as a key

interface FoundBot {
  file: string;
  /** The rest of the command line, for the bot's process. */
  flags: string[];
}

/** The bot named among the words, or the one the folder has by convention. */
export function findBot(words: readonly string[], workingFolder: string): FoundBot {
  const at = words.findIndex((word) => /\.[cm]?[jt]s$/.test(word) && !word.startsWith("-"));
  const named = words[at];
  if (named === undefined) return { file: conventionalBot(workingFolder), flags: [...words] };
  const file = resolve(workingFolder, named);
  if (!isFile(file))
    throw new Problem("bot_not_found", `${named} does not exist`, {
      why: `Looked for ${file}`,
      fixes: ["Name your bot's file: vocalhost dev path/to/bot.ts"],
    });
  return { file, flags: words.toSpliced(at, 1) };
}

const BOT_FILES = ["bot.ts", "bot.js", "bot.mjs"];

function conventionalBot(workingFolder: string): string {
  const found = BOT_FILES.map((name) => join(workingFolder, name)).find(isFile);
  if (found) return found;
  throw new Problem("bot_not_found", "There is no bot here", {
    why: `${workingFolder} has none of ${BOT_FILES.join(", ")}`,
    fixes: ["Name your bot's file: vocalhost dev path/to/bot.ts", "Create one: npm create vocalhost my-bot"],
  });
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}
