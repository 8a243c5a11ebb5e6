// Run as a process by a test, to be killed: writes until then, and prints each id once it is committed.
import { openSqliteStore } from "../sqlite.ts";
import { agentRow } from "./store-contract.ts";

const [file, inThread, region = "", writers] = process.argv.slice(2);
const store = await openSqliteStore({ file: file!, inThread: inThread === "true", reserveBytes: 64 * 1024 });
await store.db.insertInto("settings").values({ name: region, value: "0" }).execute();
await Promise.all(Array.from({ length: Number(writers) }, (_, index) => write(`${region}-${index}`)));

async function write(name: string): Promise<never> {
  for (let count = 1; ; count += 1) {
    const row = agentRow(`${name}-${count}`, { region });
    await store.transaction(async (tx) => {
      await tx.insertInto("agents").values(row).execute();
      const counter = tx.selectFrom("settings").select("value").where("name", "=", region);
      const value = String(Number((await counter.executeTakeFirstOrThrow()).value) + 1);
      await tx.updateTable("settings").set({ value }).where("name", "=", region).execute();
    });
    process.stdout.write(`${row.id}\n`);
  }
}
