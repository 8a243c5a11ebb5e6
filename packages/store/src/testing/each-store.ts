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
      return openSqliteStore({ file: join(folder, `${files}.db`), ballastBytes: 64 * 1024 });
    });
  });

  suite("on Postgres", { skip: postgresIsMissing() }, () => {
    let server: TestPostgres;
    before(async () => {
      server = await startTestPostgres();
    });
    after(() => server[Symbol.asyncDispose]());
    declare(async () => openPostgresStore({ url: await server.newDatabase() }));
  });
}
