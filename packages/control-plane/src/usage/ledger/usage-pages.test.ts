import assert from "node:assert/strict";
import { test } from "node:test";
import { text } from "node:stream/consumers";
import type { OrganizationId } from "../../identity/principal.ts";
import type { Store } from "@vocalhost/store/store";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { sessionRow } from "@vocalhost/store/testing/store-contract";
import { usageCsv } from "./usage-csv.ts";

const ours = "organization" as OrganizationId;
const period = "2026-01";
const startMs = Date.parse("2026-01-01T00:00:00Z");
const MANY = 2_345; // some pages of each kind

eachStore((open) => {
  test("every line of a month comes once, in order, however many pages they are", async () => {
    await using store = await open();
    // A hundred began within the same millisecond.
    const began = (index: number): number => startMs + Math.floor(index / 100);
    await insert(store, "usage", (index) => ({
      ...{ sessionId: `billed-${pad(index)}`, startedAt: began(index) },
      ...{ organizationId: ours, agentId: "a1", period, seconds: 1 },
    }));
    await insert(store, "sessions", (index) =>
      sessionRow({
        ...{ id: `unbilled-${pad(index)}`, createdAt: began(index), boundAt: began(index), state: "ended" },
        ...{ filter: "tel", filterState: index % 2 === 0 ? "unavailable" : "ran", organizationId: ours },
      }),
    );
    await insert(store, "corrections", (index) => ({
      ...{ sessionId: `found-${pad(index)}`, foundAt: began(index) },
      ...{ organizationId: ours, period, seconds: 2 },
    }));
    const [, ...lines] = (await text(usageCsv(store, ours, period))).trimEnd().split("\r\n");
    const told = lines.map((line) => line.split(",")).map(([kind, , session]) => `${kind} ${session}`);
    const expected = (kind: string, name: string, every = 1): string[] =>
      Array.from({ length: MANY }, (_, index) => index)
        .filter((index) => index % every === 0)
        .map((index) => `${kind} ${name}-${pad(index)}`);
    assert.deepEqual(told, [
      ...expected("usage", "billed"),
      ...expected("not-billed", "unbilled", 2),
      ...expected("correction", "found"),
    ]);
    assert.equal(lines[100]?.split(",")[5], "2026-01-01T00:00:00.001Z", "known of a forgotten session");
  });

  test("a page is read when it is asked for", async () => {
    await using store = await open();
    const row = (sessionId: string) => ({
      ...{ sessionId, organizationId: ours, agentId: "a1", period, seconds: 1, startedAt: 1 },
    });
    await insert(store, "usage", (index) => row(`s-${pad(index)}`));
    const pages = usageCsv(store, ours, period);
    const first = await pages.next();
    await store.db.insertInto("usage").values(row("t-late")).execute();
    const rest = await text(pages);
    assert.ok(!String(first.value).includes("t-late") && rest.includes("t-late"));
    assert.equal((String(first.value) + rest).split("\r\n").length, MANY + 3);
  });
});

function pad(index: number): string {
  return String(index).padStart(6, "0");
}

async function insert(
  store: Store,
  table: "usage" | "sessions" | "corrections",
  rowOf: (index: number) => object,
): Promise<void> {
  const AT_ONCE = 500;
  for (let from = 0; from < MANY; from += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, MANY - from) }, (_, index) => rowOf(from + index));
    await store.db
      .insertInto(table)
      .values(rows as never)
      .execute();
  }
}
