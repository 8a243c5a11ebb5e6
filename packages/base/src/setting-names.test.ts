import assert from "node:assert/strict";
import { test } from "node:test";
import { settingNames, unknownSettings } from "./setting-names.ts";

test("a misspelt setting is found, and what belongs to other programs is none of ours", () => {
  const environment = Object.fromEntries(settingNames.map((name) => [`VOCALHOST_${name}`, "1"]));
  assert.deepEqual(unknownSettings(environment), []);
  assert.deepEqual(
    unknownSettings({
      ...environment,
      PATH: "/bin",
      VOCALHOST_DRIVER__EU_NORTH: "container",
      VOCALHOST_API_KEY: "sk",
      VOCALHOST_DATABSE_URL: "postgres://db",
      VOCALHOST_MEDIA_PORTS_: "40000-40199",
    }),
    ["VOCALHOST_DATABSE_URL", "VOCALHOST_MEDIA_PORTS_"],
  );
});
