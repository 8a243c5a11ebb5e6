// Run as a process by a test, to be killed: writes for ever and prints each id once it is committed.
import { openSqliteStore } from "../store/sqlite.ts";
import { agentRow } from "./store-contract.ts";

const [file, inThread, region] = process.argv.slice(2);
const store = await openSqliteStore({ file: file!, inThread: inThread === "true", ballastBytes: 64 * 1024 });
for (let count = 1; ; count += 1) {
  const row = agentRow(`${region}-${count}`, { region: region! });
  await store.transaction(async (tx) => {
    await tx.insertInto("agents").values(row).execute();
    const value = String(count);
    await tx
      .insertInto("settings")
      .values({ name: region!, value })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
      .execute();
  });
  process.stdout.write(`${row.id}\n`);
}
