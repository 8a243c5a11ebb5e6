import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { listMachine, rowsOf, SUBJECTS, tableOf, updatePage } from "../../bench/report/update-page.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(join(REPOSITORY, "bench/README.md"), "utf8");

test("every table of the page names benchmarks that exist, with a date and a machine", () => {
  const sources = globSync("bench/{*,{rows,hosted}/*}.ts", { cwd: REPOSITORY })
    .map((file) => readFileSync(join(REPOSITORY, file), "utf8"))
    .join("\n");
  for (const [subject, names] of Object.entries(SUBJECTS)) {
    for (const name of names) assert.ok(sources.includes(`  name: "${name}",`), name);
    const rows = rowsOf(tableOf(page, subject)[1]);
    assert.ok(rows.length > 1, subject);
    for (const row of rows) {
      const [, date, machine, command] =
        /\| (2\d{3}-\d\d-\d\d) +\| ([A-Z]) +\| `bench -- (.+?)` +\|$/.exec(row) ?? [];
      assert.ok(date && page.includes(`- **${machine}** `), row);
      assert.ok(names.includes(command ?? ""), row);
    }
  }
});

test("an update replaces the rows of its benchmark and no other", () => {
  const { page: listed, letter } = listMachine(page, "8 cores, Other (arm64), 16 GiB");
  assert.equal(letter, "B");
  assert.equal(listMachine(listed, "8 cores, Other (arm64), 16 GiB").page, listed);
  const rows = [{ what: "a | b", measured: "1 ms", met: true }];
  const updated = updatePage(listed, { benchmark: "latency", rows, date: "2027-01-02", machine: letter });
  const table = rowsOf(tableOf(updated, "runner")[1]);
  const others = rowsOf(tableOf(page, "runner")[1]).filter((line) => !line.includes("`bench -- latency`"));
  assert.deepEqual(
    table.filter((line) => !line.includes("latency")),
    others,
  );
  assert.equal(
    table.find((line) => line.includes("latency")),
    String.raw`| a \| b |  | 1 ms |  | yes | 2027-01-02 | B | ${"`bench -- latency`"} |`,
  );
  assert.equal(tableOf(updated, "hosted")[1], tableOf(page, "hosted")[1]);
});
