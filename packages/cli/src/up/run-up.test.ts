import assert from "node:assert/strict";
import { test } from "node:test";
import { toVariables, type UpOptions } from "./up-options.ts";

test("only options that were given become settings", () => {
  const none: UpOptions = {
    ...{ port: undefined, host: undefined, dataDir: undefined, publicUrl: undefined },
    ...{ settings: undefined, example: undefined, verbose: undefined },
  };
  assert.deepEqual(toVariables(none), {});
  assert.deepEqual(toVariables({ ...none, port: 0, dataDir: "d" }), {
    VOCALHOST_PORT: "0",
    VOCALHOST_DATA_DIR: "d",
  });
});
