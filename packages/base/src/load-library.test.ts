import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError } from "./config-error.ts";
import { loadLibrary } from "./load-library.ts";

const missing = "vocalhost-no-such-library";

test("a library that is not installed is named, with the command that installs it", async () => {
  await assert.rejects(loadLibrary(missing, { needs: "Moons need", load: () => import(missing) }), {
    name: ConfigError.name,
    message: `Moons need the package ${missing}. Install it: npm install ${missing}`,
  });
});

test("a library that lacks something itself fails as it does", async () => {
  const load = (): Promise<unknown> => import(missing);
  await assert.rejects(loadLibrary("another", { needs: "Moons need", load }), {
    code: "ERR_MODULE_NOT_FOUND",
  });
});

test("an installed library is loaded", async () => {
  const library = await loadLibrary("zod", { needs: "Moons need", load: () => import("zod") });
  assert.equal(typeof library.z.string, "function");
});
