import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiHarness } from "./testing/api-harness.ts";

test("members are listed, invited by a link, changed and removed, each with its audit row", async () => {
  await using api = await startApiHarness();
  const owner = api.clientOf(await api.signIn(api.acme, "owner"));
  const viewer = await api.newMember(api.acme, "viewer");

  const before = await owner.members.list();
  const emails = new Map(before.members.map(({ email, role }) => [role, email]));
  assert.equal(before.members.length, 2);
  assert.deepEqual([emails.get("owner"), emails.get("viewer")], ["owner@example.com", undefined]);
  const { id, link, expiresAt } = await owner.members.invite({ email: " Ada@Example.com ", role: "admin" });
  assert.match(link, new RegExp(`^${api.origin}/owner#[\\w-]{43}$`));
  assert.ok(!link.includes(id));
  assert.deepEqual((await owner.members.list()).invitations, [
    { id, email: "ada@example.com", role: "admin", expiresAt },
  ]);
  await owner.members.cancelInvitation(id);
  await assert.rejects(owner.members.cancelInvitation(id), { status: 404 });
  assert.deepEqual((await owner.members.list()).invitations, []);

  await owner.members.change(viewer, { role: "admin" });
  await owner.members.remove(viewer);
  await assert.rejects(owner.members.remove(viewer), { status: 404 });
  assert.equal((await owner.members.list()).members.length, 1);
  const { entries } = await owner.audit();
  const actions = entries.map(({ action }) => action);
  for (const action of ["member-invited", "invitation-cancelled", "member-changed", "member-removed"])
    assert.ok(actions.includes(action), action);
});

test("only an owner makes, changes or removes owners, and one always stays", async () => {
  await using api = await startApiHarness();
  const ownerToken = await api.signIn(api.acme, "owner");
  const owner = api.clientOf(ownerToken);
  const other = await api.newMember(api.acme, "owner");
  const viewer = await api.newMember(api.acme, "viewer");
  for (const client of [api.client, api.clientOf(await api.signIn(api.acme, "admin"))]) {
    for (const refused of [
      () => client.members.invite({ email: "a@b.c", role: "owner" }),
      () => client.members.change(viewer, { role: "owner" }),
      () => client.members.change(other, { role: "viewer" }),
      () => client.members.remove(other),
    ])
      await assert.rejects(refused(), { status: 403, code: "ACCESS_DENIED" });
    await client.members.change(viewer, { role: "viewer" });
  }
  await owner.members.remove(other);
  const last = (await owner.members.list()).members.find(({ role }) => role === "owner");
  await assert.rejects(owner.members.remove(last?.userId ?? ""), { status: 400 });
});

test("another organisation's members and invitations are not there", async () => {
  await using api = await startApiHarness();
  const owner = api.clientOf(await api.signIn(api.acme, "owner"));
  const foreign = api.clientOf(await api.signIn(api.other, "owner"));
  const viewer = await api.newMember(api.acme, "viewer");
  const { id } = await owner.members.invite({ email: "a@b.c", role: "viewer" });
  await assert.rejects(foreign.members.cancelInvitation(id), { status: 404 });
  await assert.rejects(foreign.members.change(viewer, { role: "admin" }), { status: 404 });
  await assert.rejects(foreign.members.remove(viewer), { status: 404 });
  assert.deepEqual((await foreign.members.list()).invitations, []);
  await assert.rejects(owner.members.invite({ email: "no address", role: "viewer" }), { status: 400 });
});
