import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog } from "@vocalhost/base/log";
import { OUTPUT_FILE } from "../local/output-file.ts";
import type { ListedContainer } from "./engine-answers.ts";
import { EngineError, type EngineErrorKind } from "./engine-error.ts";
import type { Engine } from "./engine.ts";
import { KnownContainers } from "./known-containers.ts";
import { sharedFolderOf } from "./shared-files.ts";

test("one whose end the engine cannot tell is over, and holds up nobody", async () => {
  for (const kind of ["refused", "hung"] as const) {
    using containers = start(kind);
    const seen = await containers.known.see("i-1", containers.ended);
    assert.deepEqual(seen, {
      id: "i-1",
      state: "exited",
      address: undefined,
      exit: { code: null, signal: null, outOfMemory: false, lastOutput: "last words" },
    });
    await containers.known.see("i-1", containers.ended);
    assert.equal(containers.asked(), 1, "once is enough");
  }
});

test("while the engine is gone nothing is said of anybody's end", async () => {
  using containers = start("unreachable");
  await assert.rejects(containers.known.see("i-1", containers.ended), { kind: "unreachable" });
});

function start(kind: EngineErrorKind) {
  const root = mkdtempSync(join(tmpdir(), "known-containers-"));
  mkdirSync(sharedFolderOf(root, "i-1"), { recursive: true });
  writeFileSync(join(sharedFolderOf(root, "i-1"), OUTPUT_FILE), "last words\n");
  let asked = 0;
  const engine: Partial<Engine> = {
    async inspect() {
      asked += 1;
      throw new EngineError(kind, "it is not to be looked at");
    },
  };
  return {
    known: new KnownContainers({
      ...{ root, engine: engine as Engine, nameOf: (id) => id, log: silentLog },
      ...{ loaded: () => undefined, paused: () => undefined },
    }),
    ended: { Id: "1", State: "exited", Created: 1, Labels: {} } satisfies ListedContainer,
    asked: () => asked,
    [Symbol.dispose]: () => rmSync(root, { recursive: true }),
  };
}
