import { basename, relative, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { styleText } from "node:util";
import { startedBy } from "./config.ts";
import { broughtPackages, installPackages } from "./install.ts";
import { FolderError, makeFolder } from "./make-folder.ts";
import { HELP, parseOptions, UsageError, type Options } from "./options.ts";
import { projectFiles } from "./project-files.ts";
import { version } from "./version.ts";

const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;
const DEFAULT_FOLDER = "my-bot";

/** `npm create vocalhost`. Gives the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const terminal = createTerminal({ isJson: args.includes("--json") });
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort();
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  try {
    const options = parseOptions(args, startedBy());
    if (options.wantsHelp) terminal.print(HELP.trimEnd());
    else if (options.wantsVersion) terminal.print(version);
    else return await create(options, terminal, interruption.signal);
    return exitCodes.ok;
  } catch (error) {
    if (interruption.signal.aborted) return tell(terminal, args, INTERRUPTED);
    if (error instanceof UsageError) return tell(terminal, args, usage(error));
    if (error instanceof FolderError) return tell(terminal, args, inTheWay(error));
    throw error;
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

async function create(options: Options, terminal: Terminal, signal: AbortSignal): Promise<number> {
  const path = resolve(options.folder ?? (await folderName(options, terminal, signal)));
  await using folder = await makeFolder(path);
  const brought = broughtPackages();
  const sources = { ...brought?.sources, ...options.sources };
  const files = projectFiles({ ...options, sources, name: basename(path) });
  await folder.write(files);
  if (brought) await folder.write(brought.files);
  signal.throwIfAborted();
  let failure: string | undefined;
  if (options.install) {
    const busy = terminal.busy(`Installing packages with ${options.packageManager}`);
    const install = installPackages(path, options.packageManager, signal);
    failure = await install.finally(() => busy[Symbol.dispose]());
  }
  folder.keep();
  const isInstalled = options.install && failure === undefined;
  const next = nextSteps(options, path, isInstalled);
  if (options.isJson) {
    const made = {
      folder: path,
      template: options.template,
      files: [...files.keys()].sort(),
      isInstalled,
      next,
    };
    const problem = failure === undefined ? {} : { problem: { ...NOT_INSTALLED, why: failure } };
    terminal.print(JSON.stringify({ ok: failure === undefined, ...made, ...problem }));
    return failure === undefined ? exitCodes.ok : exitCodes.failed;
  }
  if (failure !== undefined) {
    terminal.error(NOT_INSTALLED.message);
    terminal.note(failure.replaceAll(/^/gm, "  "));
  }
  terminal.print(`\nCreated ${terminal.bold(shownPath(path))} with a ${options.template} bot. Next:\n`);
  for (const step of next) terminal.print(`  ${step}`);
  terminal.print("");
  return failure === undefined ? exitCodes.ok : exitCodes.failed;
}

const NOT_INSTALLED = {
  code: "install_failed",
  message: "The packages could not be installed; the project was created anyway.",
};

async function folderName(options: Options, terminal: Terminal, signal: AbortSignal): Promise<string> {
  if (options.isYes) return DEFAULT_FOLDER;
  const answer = await terminal.ask(`Folder for your bot (${DEFAULT_FOLDER}): `, signal);
  if (answer === undefined) throw new UsageError("Which folder? Name one, or use --yes for my-bot");
  return answer.trim() || DEFAULT_FOLDER;
}

const DEV: Record<Options["template"], string> = {
  parrot: "talk to it in the browser; saved changes apply to the next call",
  assistant: "talk to it in the browser; saved changes apply to the next call",
  web: "runs the bot and its page; talk to it there",
};

function nextSteps({ packageManager, template }: Options, path: string, isInstalled: boolean): string[] {
  const run = packageManager === "npm" ? "npm run" : packageManager;
  const here = relative(process.cwd(), path);
  return [
    ...(here === "" ? [] : [`cd ${/\s/.test(here) ? `"${here}"` : here}`]),
    ...(isInstalled ? [] : [`${packageManager} install`]),
    ...(template === "parrot" ? [] : ["cp .env.example .env      # and add your key"]),
    `${run} dev               # ${DEV[template]}`,
    `${packageManager} test`,
    `${run} deploy            # to your service: see README.md`,
  ];
}

function shownPath(path: string): string {
  return relative(process.cwd(), path) || ".";
}

interface Refusal {
  code: string;
  message: string;
  fix: string;
  exitCode: number;
}

const INTERRUPTED: Refusal = {
  code: "interrupted",
  message: "Interrupted. Nothing was left behind.",
  fix: "Run it again to start over.",
  exitCode: exitCodes.interrupted,
};

function usage({ message }: UsageError): Refusal {
  return { code: "usage", message, fix: "See --help.", exitCode: exitCodes.usage };
}

function inTheWay({ message }: FolderError): Refusal {
  const fix = "Nothing was changed. Choose another name: npm create vocalhost another-bot";
  return { code: "folder_in_the_way", message, fix, exitCode: exitCodes.failed };
}

function tell(
  terminal: Terminal,
  args: readonly string[],
  { code, message, fix, exitCode }: Refusal,
): number {
  if (args.includes("--json"))
    terminal.print(JSON.stringify({ ok: false, problem: { code, message, fixes: [fix] } }));
  else {
    terminal.error(message);
    terminal.note(`  → ${fix}`);
  }
  return exitCode;
}

/** Progress goes to standard error, the result to standard output. */
interface Terminal {
  print(text: string): void;
  note(text: string): void;
  error(text: string): void;
  bold(text: string): string;
  /** Shows that something takes its time. */
  busy(text: string): Disposable;
  /** Undefined without a terminal. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 80;

function createTerminal({ isJson }: { isJson: boolean }): Terminal {
  const { stdin, stdout, stderr } = process;
  const isLively = stderr.isTTY && !isJson;
  return {
    print: (text) => void stdout.write(`${text}\n`),
    note: (text) => void (isJson || stderr.write(`${text}\n`)),
    error: (text) => void stderr.write(`${styleText("red", text, { stream: stderr })}\n`),
    bold: (text) => styleText("bold", text, { stream: stdout }),
    busy(text) {
      if (!isLively) return { [Symbol.dispose]: () => undefined };
      let frame = 0;
      const draw = (): void => void stderr.write(`\r\u001b[K${FRAMES[frame++ % FRAMES.length]} ${text}`);
      const timer = setInterval(draw, FRAME_MS);
      draw();
      return {
        [Symbol.dispose]() {
          clearInterval(timer);
          stderr.write("\r\u001b[K");
        },
      };
    },
    async ask(question, signal) {
      if (!isLively || !stdin.isTTY) return undefined;
      const reader = createInterface({ input: stdin, output: stderr });
      reader.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
      try {
        return await reader.question(question, { signal });
      } finally {
        reader.close();
      }
    },
  };
}
