import type { BotDefinition } from "../bot/bot.ts";
import { runtimeLog, sessionApp } from "../runtime/app.ts";
import { keepFailuresApart } from "../runtime/keep-failures-apart.ts";
import { BotNotFoundError, loadBot } from "../server/load-bot.ts";
import { banner } from "./banner.ts";
import { loadEnvironment, readConfig, type RunnerConfig } from "./config.ts";
import { helpText, FlagError, parseFlags, type Flags } from "./flags.ts";
import { startRunner, type Runner } from "./start-runner.ts";
import { type SessionTable } from "../server/session-table.ts";
import { type Log } from "../log.ts";
import { messageOf } from "../message-of.ts";

export interface MainOptions {
  /**
   * Names of the bot's own flags, passed to it as `args.cliArgs`. Other flags are refused, unless they follow
   * `--`.
   */
  flags?: readonly string[];
}

export async function main(options: MainOptions): Promise<void> {
  const workingFolder = process.cwd();
  const environment = loadEnvironment(workingFolder);
  const { flags, config } = await settings(process.argv.slice(2), {
    own: options.flags ?? [],
    environment,
    workingFolder,
  });
  const { log } = runtimeLog;
  runtimeLog.configure(config);
  keepFailuresApart(log);
  let definition: BotDefinition | undefined;
  const runner = await startRunner({
    sessionApp,
    config,
    log,
    cliArgs: flags.all,
    bot: () => definition?.bot,
  }).catch((error: unknown) => fail(explainStart(error, config)));
  const end = endOnSignals(runner, log);
  const dev = config.devSocket ? connectToDev({ sessions: sessionApp.sessions, end }) : undefined;
  // Not awaited: the calling program may await main() while it is itself the module that holds the bot.
  void findBot(flags, workingFolder)
    .then((found) => {
      definition = found;
      if (dev) dev.ready(banner(runner, config));
      else process.stdout.write(banner(runner, config));
    })
    .catch(async (error: unknown) => {
      await runner[Symbol.asyncDispose]();
      const isExplained = error instanceof BotNotFoundError || error instanceof PrewarmError;
      fail(isExplained ? error.message : error);
    });
}

async function findBot(flags: Flags, workingFolder: string): Promise<BotDefinition> {
  const path = flags.words.find((word) => /\.[cm]?[jt]s$/.test(word));
  const definition = await loadBot({ path, mainPath: process.argv[1], workingFolder });
  try {
    await definition.prewarm?.();
  } catch (cause) {
    throw new PrewarmError(`The bot is not ready to run. ${messageOf(cause)}`, {
      cause,
    });
  }
  return definition;
}

const MISUSED = 2;

class PrewarmError extends Error {
  override readonly name = "PrewarmError";
}

async function settings(
  args: string[],
  {
    own,
    environment,
    workingFolder,
  }: {
    own: readonly string[];
    environment: Record<string, string | undefined>;
    workingFolder: string;
  },
): Promise<{ flags: Flags; config: RunnerConfig }> {
  try {
    const flags = parseFlags(args, own);
    if (flags.known.help) {
      process.stdout.write(helpText());
      process.exit(0);
    }
    return { flags, config: readConfig(flags, environment, workingFolder) };
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    if (environment["VOCALHOST_DEV_SOCKET"]) await tellMisuse(error.message);
    return fail(`${error.message}\nSee --help.`, MISUSED);
  }
}

function explainStart(error: unknown, config: RunnerConfig): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return `Port ${config.port} on ${config.host} is in use. Stop the other program or choose another port: --port ${config.port + 1}`;
  if (code === "EACCES")
    return `You are not allowed to use port ${config.port}. Choose one above 1023: --port 7860`;
  if (code === "ENOTFOUND" || code === "EADDRNOTAVAIL")
    return `--host ${config.host} is not an address of this machine`;
  if (code === "FST_ERR_DUPLICATED_ROUTE" && error instanceof Error)
    return `One of your routes has the same path as a route of the runner. ${error.message}`;
  return error;
}

function fail(problem: unknown, exitCode = 1): never {
  const text = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem);
  process.stderr.write(`${text}\n`);
  process.exit(exitCode);
}

export type { Runner };

/** Messages to `vocalhost dev`, which started this process. */
interface DevConnection {
  ready(banner: string): void;
}

/** Reports sessions to the parent process. Ends when told to while idle, or when the parent is gone. */
function connectToDev({ sessions, end }: DevParts): DevConnection {
  let retired = false;

  function send(message: object): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined); // losing the parent ends this process anyway
  }

  function report(): void {
    const list = sessions.list().map(({ id, transport, state }) => ({ id, transport, state }));
    send({ type: "sessions", sessions: list });
    if (retired && list.length === 0) end();
  }

  sessions.onChange(report);
  process.on("disconnect", end);
  process.on("message", (message: { type?: unknown }) => {
    if (message?.type !== "retire") return;
    retired = true;
    report();
  });
  return { ready: (banner) => send({ type: "ready", banner }) };
}

/** Passes the message to the parent process, which shows it in its own words. Returns only if it does not listen. */
async function tellMisuse(message: string): Promise<void> {
  if (!process.connected) return;
  await new Promise<void>((resolve) =>
    process.send?.({ type: "misused", message }, undefined, undefined, (error) =>
      error ? resolve() : process.exit(2),
    ),
  );
}

interface DevParts {
  sessions: SessionTable;
  end(): void;
}

const AT_ONCE_MS = 3_000; // usually takes a few hundredths of that; a busy machine needs more

/**
 * Ends in order on the first signal, and at once on the second. A closed output ends it too. Returns the orderly
 * end.
 */
export function endOnSignals(runner: Runner, log: Log): () => void {
  let ending = false;

  function endInOrder(): void {
    if (ending) return;
    ending = true;
    runner[Symbol.asyncDispose]().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "shutdown failed");
        process.exit(1);
      },
    );
  }

  function onSignal(signal: NodeJS.Signals): void {
    if (ending) return exitAtOnce(runner);
    log.info({ signal, sessions: runner.sessionCount }, "shutting down, once more to force");
    endInOrder();
  }

  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  // `node bot.ts | head`, or a parent that died. Every further line would fail again, so the process exits
  // silently.
  for (const output of [process.stdout, process.stderr]) output.on("error", endInOrder);
  return endInOrder;
}

// With live peer connections, process.exit() would wait for their threads forever.
function exitAtOnce(runner: Runner): void {
  setTimeout(() => process.kill(process.pid, "SIGKILL"), AT_ONCE_MS);
  void runner.abandon().finally(() => process.exit(1));
}
