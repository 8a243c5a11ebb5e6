import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite } from "node:test";
import { openPostgresStore } from "../postgres.ts";
import { openSqliteStore } from "../sqlite.ts";
import type { Store } from "../store.ts";
import { postgresIsMissing, startTestPostgres, type TestPostgres } from "./test-postgres.ts";

/** Declares the same tests on both databases; `open` gives an empty store. */
export function eachStore(declare: (open: () => Promise<Store>) => void): void {
  suite("on SQLite", () => {
    let folder: string;
    let files = 0;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "vocalhost-store-"));
    });
    after(() => rm(folder, { recursive: true, force: true }));
    declare(() => {
      files += 1;
      return openSqliteStore({ file: join(folder, `${files}.db`), reserveBytes: 64 * 1024 });
    });
  });

  suite("on Postgres", { skip: postgresIsMissing() }, () =>
    declare(async () => {
      const { server, migrated } = await (shared ??= startShared());
      return openPostgresStore({ url: await server.newDatabase(migrated) });
    }),
  );
}

// One for all tests of a process, and the schema made once: both take longer than most of them.
let shared: ReturnType<typeof startShared> | undefined;
after(async () => (await shared)?.server[Symbol.asyncDispose]());

async function startShared(): Promise<{ server: TestPostgres; migrated: string }> {
  const server = await startTestPostgres();
  const store = await openPostgresStore({ url: server.url });
  await store[Symbol.asyncDispose]();
  return { server, migrated: server.url };
}
