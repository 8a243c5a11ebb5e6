import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { insertBuild } from "../../api/testing/rows.ts";
import type { OrganizationId } from "../../identity/principal.ts";
import type { SourceKind } from "@vocalhost/drivers/driver";
import { createOrganization } from "../../identity/organizations/organizations.ts";
import type { Store } from "@vocalhost/store/store";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { resolveSource } from "./resolve-source.ts";

eachStore((open) => {
  test("what runs is a build, by its id or by its image", async () => {
    await using store = await open();
    const { organizationId, build, image } = await prepare(store);
    const context = { store, runs: ["build"] } as const;
    const ok = { ok: true, kind: "build", buildId: build.id };
    assert.deepEqual(await resolveSource(context, organizationId, { image, buildId: build.id }), ok);
    assert.deepEqual(await resolveSource(context, organizationId, { image, buildId: null }), ok);
    const foreign = randomUUID() as OrganizationId;
    for (const [scope, spec] of [
      [foreign, { image, buildId: build.id }],
      [organizationId, { image: "acme/bot:1", buildId: null }],
      [organizationId, { image, buildId: randomUUID() }],
    ] as const) {
      const resolved = await resolveSource(context, scope, spec);
      assert.equal(resolved.ok ? "" : resolved.code, "IMAGE_NOT_FOUND");
    }
    await store.db.updateTable("builds").set({ status: "failed" }).execute();
    assert.equal((await resolveSource(context, organizationId, { image, buildId: build.id })).ok, false);
  });

  test("what runs depends on what the driver runs", async () => {
    await using store = await open();
    const { organizationId, build, image } = await prepare(store);
    const built = { image, buildId: build.id };
    const pushed = { image: "acme/bot:1", buildId: null };
    const lost = { image, buildId: randomUUID() };
    const cases: [SourceKind[], typeof built | typeof pushed, "build" | "image" | RegExp][] = [
      [["build"], built, "build"],
      [["build"], pushed, /no build with the image 'acme\/bot:1'. This service runs builds/],
      [["image"], pushed, "image"],
      [["image"], built, /was built for another driver. Deploy the bot's folder again/],
      [["build", "image"], built, "build"],
      [["build", "image"], pushed, "image"],
      [["build", "image"], lost, /There is no build/],
    ];
    for (const [runs, spec, expected] of cases) {
      const resolved = await resolveSource({ store, runs }, organizationId, spec);
      if (typeof expected === "string") assert.equal(resolved.ok && resolved.kind, expected);
      else assert.match(resolved.ok ? resolved.kind : resolved.message, expected);
    }
  });
});

eachStore((open) => {
  test("a build that is an image runs as one, and needs nobody's pull secret", async () => {
    await using store = await open();
    const { organizationId } = await prepare(store);
    const reference = "localhost/vocalhost/builds@sha256:00";
    const facts = JSON.stringify({
      ...{ botFile: "bot.ts", baseVersion: "0.2.0", filterPackages: [] },
      image: { reference },
    });
    const { id: buildId, imageUri } = await insertBuild(store, organizationId, { facts });
    const spec = { image: imageUri ?? "", buildId };
    assert.deepEqual(await resolveSource({ store, runs: ["image"] }, organizationId, spec), {
      ...{ ok: true, kind: "image", reference, isBuilt: true },
    });
    const onProcesses = await resolveSource({ store, runs: ["build"] }, organizationId, spec);
    assert.match(onProcesses.ok ? "" : onProcesses.message, /was built for another driver/);
  });
});

async function prepare(store: Store) {
  const organizationId = await store.transaction((tx) =>
    createOrganization(tx, { name: "acme" }, { actor: "system", nowMs: 1 }),
  );
  const build = await insertBuild(store, organizationId);
  return { organizationId, build, image: build.imageUri ?? "" };
}
