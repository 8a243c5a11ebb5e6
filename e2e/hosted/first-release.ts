import { chmodSync, cpSync, copyFileSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

/** The data folder that the first release left when it stopped. */
export const firstRelease = {
  agent: "echo",
  sessionId: "12092d96-fd55-430f-85b5-2f3b8cb0237b",
  month: "2026-11",
  seconds: 4,
  owner: { email: "ada@example.com", password: "a long enough password" },
  /** The bot of its agent prints it when it is loaded. */
  secret: "a word from the secrets: parrot",
};

const FIXTURE = fileURLToPath(new URL("../fixtures/first-release/", import.meta.url));
const BUILD = "builds/047475e3-7c8f-4257-9e95-beebb26cbe73";
const STOPPED_AT = 1_794_884_923_000;
const TIMES = /\b17948(?:8[4-9]|9\d)\d{7}\b/g;

/**
 * A data folder of the first release: an organisation with an owner, two keys, secrets, an agent with its build, and a
 * session that is billed. `sdkFolder` is where that release had its own program.
 */
export function layFirstRelease(dataFolder: string, sdkFolder: string): void {
  mkdirSync(join(dataFolder, BUILD, "node_modules"), { recursive: true });
  for (const file of ["master-keys", "service-secret", "first-run.json"]) {
    copyFileSync(join(FIXTURE, file), join(dataFolder, file));
    chmodSync(join(dataFolder, file), 0o600); // git keeps no modes, and the service refuses keys that others can read
  }
  cpSync(join(FIXTURE, "bot"), join(dataFolder, BUILD), { recursive: true });
  symlinkSync(sdkFolder, join(dataFolder, BUILD, "node_modules/vocalhost"));
  using database = new DatabaseSync(join(dataFolder, "vocalhost.db"));
  // As if it had been stopped just now: what is old is deleted in time.
  const sinceMs = Date.now() - STOPPED_AT;
  const sql = readFileSync(join(FIXTURE, "store.sql"), "utf8");
  database.exec(sql.replace(TIMES, (time) => String(Number(time) + sinceMs)));
}
