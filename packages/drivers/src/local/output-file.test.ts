import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fillDisk, mountIsMissing, mountSmallDisk } from "../../../../testing/small-disk.ts";
import { dropOutput, OUTPUT_FILE, readLastOutput, readOutput, type OutputLimits } from "./output-file.ts";

test("whole lines are given once each, the unfinished one when nobody will finish it", async () => {
  using file = start();
  file.print("one\ntwo\r\n\nthr");
  assert.deepEqual(await file.read(0), {
    lines: [line(0, "one"), line(4, "two"), line(9, "")],
    nextPosition: 10,
  });
  assert.deepEqual(await file.read(10), { lines: [], nextPosition: 10 });
  file.print("ee\n");
  assert.deepEqual((await file.read(10)).lines, [line(10, "three")]);
  file.print("end");
  assert.deepEqual((await file.read(16, { isRunning: false })).lines, [line(16, "end")]);
  assert.deepEqual((await file.read(19, { isRunning: false })).lines, []);
});

test("a file that is not there has no lines", async () => {
  using file = start();
  assert.deepEqual(await file.read(0, { isRunning: false }), { lines: [], nextPosition: 0 });
  assert.equal(await readLastOutput(file.folder, 100), "");
});

test("reading goes on through chunks and never stands still before a huge line", async () => {
  using file = start({ chunkBytes: 10, lineBytes: 4 });
  file.print(`a\n${"b".repeat(25)}\nc\n`);
  const seen: string[] = [];
  let position = 0;
  for (let rounds = 0; rounds < 10; rounds += 1) {
    const chunk = await file.read(position);
    seen.push(...chunk.lines.map(({ text }) => text));
    position = chunk.nextPosition;
  }
  assert.equal(position, 30);
  assert.deepEqual(seen, ["a", "bbbb", "bbbb", "bbbb", "c"]);
});

test("a file that was read is emptied when it is large, and positions go on", async () => {
  using file = start({ fileBytes: 20 });
  file.print("0123456789\n0123456789\n");
  const { nextPosition } = await file.read(0);
  assert.equal(nextPosition, 22);
  assert.equal(file.size(), 0);
  file.print("more\n");
  assert.deepEqual(await file.read(22), { lines: [line(22, "more")], nextPosition: 27 });
  assert.deepEqual((await file.read(27)).lines, []);
});

test("what nobody reads in time is dropped, and that is said", async () => {
  using file = start({ fileBytes: 20 });
  file.print("x".repeat(41));
  const { lines, nextPosition } = await file.read(0);
  assert.equal(nextPosition, 41);
  assert.match(lines[0]?.text ?? "", /output dropped.*41 bytes/);
  assert.equal(file.size(), 0);
});

test("a crash while the file is emptied repeats nothing", async () => {
  for (const isEmptied of [false, true]) {
    using file = start({ fileBytes: 20 });
    file.print("0123456789\n0123456789\n");
    writeFileSync(join(file.folder, "output-base.json"), JSON.stringify({ position: 22, removing: 22 }));
    if (isEmptied) writeFileSync(join(file.folder, OUTPUT_FILE), "");
    assert.deepEqual(await file.read(22), { lines: [], nextPosition: 22 });
    file.print("next\n");
    assert.deepEqual((await file.read(22)).lines, [line(22, "next")]);
  }
});

test("whatever a bot makes of its files, every place can be stored", async () => {
  const most = 2 ** 50;
  using noted = start();
  writeFileSync(join(noted.folder, "output-base.json"), `{"position":${2 ** 53 - 1},"removing":0}`);
  noted.print("one\n");
  assert.deepEqual(await noted.read(0), { lines: [line(0, "one")], nextPosition: 4 });
  using dropped = start({ fileBytes: 20 });
  writeFileSync(join(dropped.folder, "output-base.json"), `{"position":${most - 10},"removing":0}`);
  dropped.print("x".repeat(41));
  assert.equal((await dropped.read(0)).nextPosition, most);
  dropped.print("more\n");
  assert.deepEqual((await dropped.read(most)).lines, [line(most, "more")]);
});

test("the last words are whole lines", async () => {
  using file = start();
  file.print("first line\nsecond line\nthird\n");
  assert.equal(await readLastOutput(file.folder, 12), "third");
  assert.equal(await readLastOutput(file.folder, 1000), "first line\nsecond line\nthird");
});

test("output that fills the disk is emptied all the same", { skip: mountIsMissing() }, async () => {
  using disk = mountSmallDisk("1m");
  fillDisk(disk.folder, OUTPUT_FILE);
  const limits = { fileBytes: 100_000 };
  const { chunk } = await readOutput(disk.folder, { position: 0, isRunning: true, limits });
  const { lines } = chunk;
  assert.match(lines[0]?.text ?? "", /^\[output dropped/);
  assert.equal(statSync(join(disk.folder, OUTPUT_FILE)).size, 0);
});

test("on a full disk what was printed goes, and reading goes on after it", async () => {
  using file = start();
  file.print("short\n");
  assert.equal(await dropOutput(file.folder), 0, "little is not worth it");
  file.print("x".repeat(100_000));
  assert.equal(await dropOutput(file.folder), 100_006);
  assert.equal(file.size(), 0);
  file.print("after\n");
  assert.deepEqual(await file.read(6), { lines: [line(100_006, "after")], nextPosition: 100_012 });
});

function line(position: number, text: string) {
  return { position, text };
}

function start(limits: Partial<OutputLimits> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "output-"));
  const path = join(folder, OUTPUT_FILE);
  return {
    folder,
    print: (text: string) => appendFileSync(path, text),
    size: () => statSync(path).size,
    read: (position: number, { isRunning = true } = {}) =>
      readOutput(folder, { position, isRunning, limits }).then(({ chunk }) => chunk),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
