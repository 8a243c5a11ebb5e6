import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { appendFile, chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../../../testing/free-port.ts";

/** A Postgres server of a test's own, gone with the test. */
export interface TestPostgres extends AsyncDisposable {
  /** Address of an empty database. */
  url: string;
  port: number;
  /** The pid of the process that all others of the server descend from. */
  pid(): number;
  /** Another database on the same server, empty or a copy of one without connections. */
  newDatabase(copyOf?: string): Promise<string>;
  /** Returns psql's output, without ornaments. */
  ask(...statements: string[]): Promise<string>;
  restart(mode: StopMode): Promise<void>;
  stop(mode: StopMode): Promise<void>;
  start(): Promise<void>;
  /** Neither the server nor any of its processes does anything until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Locks a table for all others until the lock is disposed of. */
  lock(url: string, table: string): Promise<AsyncDisposable>;
  /** A standby is one no longer. */
  promote(): Promise<void>;
}

export interface TestPostgresOptions {
  /** Beside those that make it quick and forgetful. */
  settings?: Record<string, string>;
  /** Follows this one, as a copy of all its databases. */
  standbyOf?: Pick<TestPostgres, "port" | "url">;
  /** The address on which it listens; clients from other machines need the password in its URL. @default 127.0.0.1 */
  address?: string;
}

/** `immediate`: as if it had crashed. */
export type StopMode = "fast" | "immediate";

const run = promisify(execFile);
const COMMAND_MS = 60_000;

export async function startTestPostgres({
  settings = {},
  standbyOf,
  address = "127.0.0.1",
}: TestPostgresOptions = {}): Promise<TestPostgres> {
  const programs = findPrograms();
  const folder = await mkdtemp(join(tmpdir(), "vocalhost-postgres-"));
  const data = join(folder, "data");
  const owner = userInfo().uid === 0 ? await postgresUser() : undefined;
  await chmod(folder, 0o755);
  if (owner) await chown(folder, owner.uid, owner.gid);
  const port = await freePort();
  const password = randomBytes(16).toString("hex");
  const passwordFile = join(folder, "password");
  const options = [
    `-p ${port}`,
    `-c listen_addresses=${address}`,
    `-c unix_socket_directories=${folder}`,
    "-c fsync=off -c full_page_writes=off",
    "-c max_connections=100 -c shared_buffers=16MB",
    ...Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`),
  ].join(" ");
  const here = ["-h", folder, "-p", String(port), "-U", "postgres"];
  const urlOf = (database: string): string =>
    `postgres://postgres:${password}@${address}:${port}/${database}`;
  let databases = 0;

  async function control(...args: string[]): Promise<void> {
    await runAs(owner, join(programs, "pg_ctl"), ["-D", data, "-w", "-t", "60", ...args]);
  }
  const start = (): Promise<void> => control("start", "-o", options, "-l", join(folder, "server.log"));
  const stop = (mode: StopMode): Promise<void> => control("stop", "-m", mode);
  async function newDatabase(copyOf?: string): Promise<string> {
    databases += 1;
    const name = `test${databases}`;
    const template = copyOf === undefined ? [] : ["-T", databaseOf(copyOf)];
    await runAs(owner, join(programs, "createdb"), [...here, ...template, name]);
    return urlOf(name);
  }

  async function fill(): Promise<void> {
    if (standbyOf)
      return runAs(owner, join(programs, "pg_basebackup"), [
        ...["-h", "127.0.0.1", "-p", String(standbyOf.port), "-U", "postgres"],
        ...["-D", data, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"],
      ]);
    await writeFile(passwordFile, password);
    return runAs(owner, join(programs, "initdb"), [
      ...["-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"],
      `--pwfile=${passwordFile}`,
    ]);
  }

  const pid = (): number => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n", 1)[0]);
  const frozen = new Set<number>();
  const thaw = (): void => {
    for (const each of frozen) tell(each, "SIGCONT");
    frozen.clear();
  };
  async function lock(locked: string, table: string): Promise<AsyncDisposable> {
    const name = new URL(locked).pathname.slice(1);
    const statements = ["BEGIN", `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`, "\\echo locked"];
    const child = spawn(join(programs, "psql"), [...here, "-d", name, "-At"], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    child.stdin.write(`${statements.join(";\n")}\n`);
    await once(child.stdout, "data");
    return {
      async [Symbol.asyncDispose]() {
        const gone = once(child, "exit");
        child.stdin.end("ROLLBACK;\n");
        await gone;
      },
    };
  }

  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await fill();
  stack.defer(() => stop("immediate").catch(() => undefined));
  stack.defer(thaw);
  if (address !== "127.0.0.1")
    await appendFile(join(data, "pg_hba.conf"), "host all all 0.0.0.0/0 scram-sha-256\n");
  await start();
  const url = standbyOf ? urlOf(databaseOf(standbyOf.url)) : await newDatabase();
  const owned = stack.move();
  return {
    url,
    port,
    pid,
    newDatabase,
    async ask(...statements) {
      const commands = statements.flatMap((each) => ["-c", each]);
      const args = [...here, "-d", "postgres", "-At", ...commands];
      return (await run(join(programs, "psql"), args, { timeout: COMMAND_MS })).stdout.trim();
    },
    async restart(mode) {
      await stop(mode);
      await start();
    },
    stop,
    start,
    freeze() {
      // The postmaster first, or it would make more of them.
      for (const each of [pid(), ...childrenOf(pid())]) {
        tell(each, "SIGSTOP");
        frozen.add(each);
      }
    },
    thaw,
    lock,
    promote: () => control("promote"),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A backend may end at any moment. */
function tell(pid: number, signal: "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

const databaseOf = (url: string): string => new URL(url).pathname.slice(1);

/** Why there can be no server here, or undefined. */
export function postgresIsMissing(): string | undefined {
  try {
    findPrograms();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

interface Owner {
  uid: number;
  gid: number;
}

function findPrograms(): string {
  const folders = globSync("/usr/lib/postgresql/*/bin").toSorted().toReversed();
  const found = [...folders, "/usr/local/bin", "/usr/bin", "/opt/homebrew/bin"].find((folder) =>
    ["initdb", "pg_ctl", "createdb"].every((name) => existsSync(join(folder, name))),
  );
  if (found === undefined) throw new Error("PostgreSQL is not installed");
  return found;
}

/** Postgres refuses to run as root. */
async function postgresUser(): Promise<Owner> {
  const [uid, gid] = await Promise.all(
    ["-u", "-g"].map(async (flag) => Number((await run("id", [flag, "postgres"])).stdout)),
  );
  return { uid: uid!, gid: gid! };
}

async function runAs(owner: Owner | undefined, program: string, args: string[]): Promise<void> {
  // The server inherits what pg_ctl has open, so output goes nowhere: a pipe would stay open with it.
  const child = spawn(program, args, {
    ...owner,
    cwd: "/",
    stdio: ["ignore", "ignore", "ignore"],
    timeout: COMMAND_MS,
  });
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once("error", reject);
  child.once("exit", resolve);
  const code = await promise;
  if (code !== 0) throw new Error(`${program} ${args[0]} ended with ${code}`);
}
