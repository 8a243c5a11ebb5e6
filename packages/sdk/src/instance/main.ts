// A hosted instance: started by a driver with `instanceVariables` in its environment.
import "./take-bootstrap.ts";
import { flushCompileCache } from "node:module";
import type { BotDefinition } from "../bot/bot.ts";
import { runtimeLog, sessionApp } from "../runtime/app.ts";
import { MediaPortError } from "../media/media-port-error.ts";
import { becomeHosted } from "../runtime/hosted.ts";
import { keepFailuresApart } from "../runtime/keep-failures-apart.ts";
import { BotNotFoundError, loadBot } from "../server/load-bot.ts";
import { takeInstanceConfig, type InstanceConfig } from "./config.ts";
import { reportStarvation } from "./ready-report.ts";
import { startInstance, type Instance } from "./start-instance.ts";

try {
  await main();
} catch (error) {
  process.stderr.write(`${explained(error)}\n`);
  process.exit(1);
}

async function main(): Promise<void> {
  const config = takeInstanceConfig();
  const { log } = runtimeLog;
  runtimeLog.configure({ logLevel: config.logLevel, logFormat: "text" });
  // The driver owns the output; losing it must not end a call.
  for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined);
  keepFailuresApart(log);
  becomeHosted();
  const instance = startInstance({ sessionApp, config, log });
  endOnSignals(instance);
  void instance.done.then(exit);
  const bot = await findBot(config);
  flushCompileCache(); // the driver copies the cache for later instances once this one listens
  await instance.listen(bot);
}

async function findBot(config: InstanceConfig): Promise<BotDefinition> {
  using _reports = config.readyEndpoint === undefined ? undefined : reportStarvation(config);
  const definition = await loadBot({ path: config.bot, mainPath: undefined, workingFolder: process.cwd() });
  await definition.prewarm?.();
  return definition;
}

function endOnSignals(instance: Instance): void {
  let asked = false;
  process.on("SIGTERM", () => {
    if (asked) endAtOnce();
    asked = true;
    void instance.end();
  });
  process.on("SIGINT", () => undefined); // sent to the terminal's foreground process group, and not meant for this process
}

// With threads of native modules still running, process.exit() would wait forever.
function exit(isClean: boolean): void {
  if (!isClean) endAtOnce();
  process.exit(0);
}

// The kernel ignores SIGKILL from PID 1 to itself; execve replaces the process and ends its threads.
function endAtOnce(): void {
  if (process.pid === 1) process.execve?.(process.execPath, [process.execPath, "-e", ""]);
  process.kill(process.pid, "SIGKILL");
}

function explained(error: unknown): string {
  if (error instanceof BotNotFoundError || error instanceof MediaPortError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
