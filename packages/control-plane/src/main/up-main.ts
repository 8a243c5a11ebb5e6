// `npm start`: runs the whole service on this machine; the first start also deploys an example bot.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { readConfig, readEnvironment } from "./config.ts";
import { ConfigError } from "@vocalhost/base/config-error";
import { FIRST_RUN_FILE, type FirstRun } from "./controller/first-run-file.ts";
import { createServiceLog } from "@vocalhost/base/service-log";
import { systemClock } from "@vocalhost/base/system-clock";
import { unknownSettings } from "./show-settings.ts";
import { endOnSignals } from "./supervisor/end-on-signals.ts";
import { findUnshown, markShown } from "./supervisor/first-start.ts";
import { HELP, readyText, welcomeText } from "./supervisor/say.ts";
import { ServiceFailedError, startService } from "./supervisor/service.ts";

await main().catch((error: unknown) => {
  const text = error instanceof Error ? (isExplained(error) ? error.message : error.stack) : String(error);
  if (text) process.stderr.write(`${text}\n`);
  process.exit(1);
});

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", short: "h" },
      example: { type: "string" },
      "default-data-dir": { type: "string" },
      "default-base-images": { type: "string" },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const environment = { ...readEnvironment() };
  environment["VOCALHOST_DATA_DIR"] ||= values["default-data-dir"];
  environment["VOCALHOST_BASE_IMAGES"] ||= values["default-base-images"];
  const config = readConfig(environment);
  const log = createServiceLog({ config, process: "supervisor" });
  for (const unknown of unknownSettings(environment))
    log.warn(unknown, "this variable is no setting of the service, see docs/hosted/configuration.md");
  const service = await startService({ config, environment, log });
  const { isEnding } = endOnSignals({
    service,
    log,
    isUnderNpm: environment["npm_lifecycle_event"] === "start",
  });
  const { publicUrl, ownerLink } = service;
  const { dataFolder } = config;
  const firstRun = findUnshown(service, dataFolder);
  if (!firstRun) {
    const file = join(dataFolder, FIRST_RUN_FILE);
    const keysFile = existsSync(file) ? file : undefined;
    return void process.stdout.write(readyText({ publicUrl, dataFolder, keysFile, ownerLink }));
  }
  const takesFolders = config.driver.kind !== "kubernetes";
  let deployed: string | undefined;
  try {
    if (takesFolders) deployed = await deployExample(values.example, firstRun);
  } catch (error) {
    if (!isEnding()) log.error({ err: error }, "the example could not be deployed");
  }
  if (isEnding()) return; // the next start continues
  process.stdout.write(welcomeText({ firstRun, agentName: deployed, dataFolder, takesFolders }));
  markShown(dataFolder);
}

/** Returns the example's name, if there is one. */
async function deployExample(
  example: string | undefined,
  { apiUrl, privateKey }: FirstRun,
): Promise<string | undefined> {
  const [agentName, folder] = (example ?? "").split("=");
  if (!agentName || !folder) return undefined;
  const { deployFolder } = await import("./supervisor/deploy-folder.ts"); // seldom needed
  await deployFolder({
    ...{ apiUrl, privateKey, agentName, folder: resolve(folder) },
    minAgents: 1,
    clock: systemClock,
    progress: (text) => process.stdout.write(`  ${text} …\n`),
  });
  return agentName;
}

function isExplained(error: Error): boolean {
  if (error instanceof ConfigError || error instanceof ServiceFailedError) return true;
  return "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}
