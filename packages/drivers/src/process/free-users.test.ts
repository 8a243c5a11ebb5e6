import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findFreeUsers } from "./free-users.ts";
import { openFoldersAbove, whyNoOtherUsers } from "./own-users.ts";

async function inFolder(run: (folder: string) => void | Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "free-users-"));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const WHOLE_MACHINE = "         0          0 4294967295\n";

test("a data folder has the same users each time, other than its neighbour's and than anybody's here", () =>
  inFolder((folder) => {
    const files = { etc: folder, proc: folder };
    const find = (data: string) => findFreeUsers(data, files);
    for (const name of ["uid_map", "gid_map"]) writeFileSync(join(folder, name), WHOLE_MACHINE);
    const first = find("/data");
    assert.ok(first && first.last - first.first === 65_535);
    assert.deepEqual(find("/data"), first);
    assert.notDeepEqual(find("/other"), first);
    const taken: [file: string, line: string][] = [
      ["passwd", `ada:x:${first.first + 7}:100::/:/bin/sh`],
      ["group", `ada:x:${first.last}:`],
      ["subuid", `ada:${first.first - 10}:11`],
      ["subgid", `# those of containers\nada:${first.first}:1`],
    ];
    for (const [file, line] of taken) {
      writeFileSync(join(folder, file), `root:x:0:0::/root:/bin/sh\n${line}\n`);
      const next = find("/data");
      assert.ok(next && next.first !== first.first, file);
      rmSync(join(folder, file));
    }
  }));

test("in a user namespace only numbers that it has are picked, or none", () =>
  inFolder((folder) => {
    const files = { etc: folder, proc: folder };
    for (const name of ["uid_map", "gid_map"]) writeFileSync(join(folder, name), "0 100000 65536\n");
    assert.deepEqual(findFreeUsers("/data", files), { first: 30_000, last: 59_999 });
    writeFileSync(join(folder, "uid_map"), "0 1000 1\n");
    assert.equal(findFreeUsers("/data", files), undefined);
  }));

test("folders on the way are opened for passing through, and for nothing else", () =>
  inFolder((folder) => {
    const closed = join(folder, "closed");
    const inside = join(closed, "inside");
    mkdirSync(inside, { recursive: true });
    chmodSync(closed, 0o700);
    const { opened, closed: left } = openFoldersAbove([join(inside, "bot.ts")]);
    assert.deepEqual(
      [opened.filter((each) => each.startsWith(folder)).sort(), left],
      [[folder, closed], undefined],
    );
    assert.deepEqual(
      [folder, closed].map((each) => statSync(each).mode & 0o777),
      [0o701, 0o701],
    );
    assert.deepEqual(openFoldersAbove([join(inside, "bot.ts")]), { opened: [], closed: undefined });
  }));

test("a root that may not become another user says what it lacks", () =>
  inFolder((folder) => {
    const status = join(folder, "status");
    writeFileSync(status, "Name:\tnode\nCapEff:\t000001ffffffffff\n");
    assert.equal(whyNoOtherUsers(status), undefined);
    writeFileSync(status, "Name:\tnode\nCapEff:\t000001ffffffff3f\n");
    assert.equal(whyNoOtherUsers(status), "the service lacks CAP_SETGID, CAP_SETUID");
  }));
