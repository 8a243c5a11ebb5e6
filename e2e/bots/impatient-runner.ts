// A runner with short deadlines, so that tests see what happens when they pass.
import { createTransport, type RunnerArguments } from "vocalhost";
import { banner } from "../../packages/sdk/src/runner/banner.ts";
import { readConfig } from "../../packages/sdk/src/runner/config.ts";
import { endOnSignals } from "../../packages/sdk/src/runner/main.ts";
import { parseFlags } from "../../packages/sdk/src/runner/flags.ts";
import { keepFailuresApart } from "../../packages/sdk/src/runtime/keep-failures-apart.ts";
import { createRuntimeLog } from "../../packages/sdk/src/runtime/runtime-log.ts";
import { startRunner } from "../../packages/sdk/src/runner/start-runner.ts";
import { createSessionApp } from "../../packages/sdk/src/server/session-app.ts";
import { patientMs } from "../../testing/patience.ts";
import { mountFigures } from "./figures.ts";

const CONNECT_MS = patientMs(1_000);

async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
}

if (import.meta.main) {
  const { log } = createRuntimeLog();
  const sessionApp = await createSessionApp(log, { connectDeadlineMs: CONNECT_MS });
  mountFigures(sessionApp.app, sessionApp.sessions);
  keepFailuresApart(log);
  const flags = parseFlags(process.argv.slice(2));
  const config = readConfig(flags, process.env, process.cwd());
  const mediaTiming = { connectMs: CONNECT_MS, lostMs: 6_000 };
  const runner = await startRunner({
    sessionApp,
    config,
    log,
    cliArgs: flags.all,
    bot: () => bot,
    mediaTiming,
  });
  endOnSignals(runner, log);
  process.stdout.write(banner(runner, config));
}
