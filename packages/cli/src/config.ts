import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

/** What carriers and bots share a secret by, from the environment or the `.env` of the working folder. */
export interface CliConfig {
  twilio: { accountId: string | undefined; secret: string | undefined };
  telnyx: { accountId: undefined; secret: string | undefined };
  plivo: { accountId: string | undefined; secret: string | undefined };
}

/** The `.env` wins, as it does for the runner: both then mean the same secret. */
export function readConfig(workingFolder: string): CliConfig {
  const file = join(workingFolder, ".env");
  const environment = { ...process.env, ...(existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {}) };
  const setting = (name: string): string | undefined => environment[name] || undefined;
  return {
    twilio: { accountId: setting("TWILIO_ACCOUNT_SID"), secret: setting("TWILIO_AUTH_TOKEN") },
    telnyx: { accountId: undefined, secret: setting("TELNYX_PRIVATE_KEY") },
    plivo: { accountId: setting("PLIVO_AUTH_ID"), secret: setting("PLIVO_AUTH_TOKEN") },
  };
}
