import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { BASE_VERSION, imageLabels } from "../labels.ts";
import { basePlaces, baseUser } from "./base-places.ts";
import { NODE_VERSION } from "./contents.ts";

test("the Dockerfile of the base and the builder put things in the same places", async () => {
  const text = await readFile(new URL("../../../../images/base/Dockerfile", import.meta.url), "utf8");
  const lines = text.split("\n");
  for (const line of [
    `ARG NODE_IMAGE=docker.io/library/node:${NODE_VERSION}-bookworm-slim`,
    `WORKDIR ${basePlaces.product}`,
    `WORKDIR ${basePlaces.app}`,
    `USER ${baseUser.uid}:${baseUser.gid}`,
    `ENTRYPOINT ["node", "${basePlaces.entry}"]`,
  ])
    assert.ok(lines.includes(line), line);
  assert.ok(text.includes(basePlaces.compileCacheMaker.replace(`${basePlaces.product}/`, "")));
  assert.ok(text.includes(`${imageLabels.baseVersion}="${BASE_VERSION}"`));
  assert.ok(text.includes(`${imageLabels.version}="${BASE_VERSION}"`));
  for (const label of [imageLabels.productVersion, imageLabels.filterVersion])
    assert.ok(text.includes(`${label}="$`), label);
});
