import { AppError } from "@vocalhost/protocol";
import { writeAudit } from "./audit.ts";
import type { OrganizationId } from "./principal.ts";
import type { MemberRow } from "@vocalhost/store/schema";
import type { Db, Store, Tx } from "@vocalhost/store/store";

export type Role = MemberRow["role"];

export interface Change {
  actor: string;
  nowMs: number;
}

/** Adds a member; an existing member keeps the role. */
export async function addMember(
  tx: Tx,
  organizationId: OrganizationId,
  { userId, role }: { userId: string; role: Role },
  { actor, nowMs }: Change,
): Promise<void> {
  const result = await tx
    .insertInto("members")
    .values({ organizationId, userId, role, createdAt: nowMs })
    .onConflict((conflict) => conflict.columns(["organizationId", "userId"]).doNothing())
    .executeTakeFirst();
  if (result.numInsertedOrUpdatedRows !== 1n) return;
  const target = `user:${userId}`;
  await writeAudit(tx, {
    organizationId,
    at: nowMs,
    actor,
    action: "member-added",
    target,
    details: { role },
  });
}

export async function listMembers(db: Db, organizationId: OrganizationId): Promise<MemberRow[]> {
  return await db
    .selectFrom("members")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .orderBy("createdAt")
    .orderBy("userId")
    .execute();
}

/** Refuses to remove the role of the last owner. */
export async function changeRole(
  store: Store,
  organizationId: OrganizationId,
  { userId, role }: { userId: string; role: Role },
  { actor, nowMs }: Change,
): Promise<void> {
  await store.transaction(async (tx) => {
    const members = await lockMembers({ store, tx }, organizationId);
    const before = requireMember(members, userId);
    if (role !== "owner") requireOtherOwner(members, userId);
    await tx
      .updateTable("members")
      .set({ role })
      .where("organizationId", "=", organizationId)
      .where("userId", "=", userId)
      .execute();
    await writeAudit(tx, {
      organizationId,
      at: nowMs,
      actor,
      action: "member-changed",
      target: `user:${userId}`,
      details: { from: before.role, to: role },
    });
  });
}

export async function removeMember(
  store: Store,
  organizationId: OrganizationId,
  userId: string,
  { actor, nowMs }: Change,
): Promise<void> {
  await store.transaction(async (tx) => {
    const members = await lockMembers({ store, tx }, organizationId);
    requireMember(members, userId);
    requireOtherOwner(members, userId);
    await tx
      .deleteFrom("members")
      .where("organizationId", "=", organizationId)
      .where("userId", "=", userId)
      .execute();
    const target = `user:${userId}`;
    await writeAudit(tx, { organizationId, at: nowMs, actor, action: "member-removed", target });
  });
}

/** Locks the members, so that two owners cannot remove each other concurrently. */
function lockMembers(
  { store, tx }: { store: Store; tx: Tx },
  organizationId: OrganizationId,
): Promise<MemberRow[]> {
  const members = tx.selectFrom("members").selectAll().where("organizationId", "=", organizationId);
  return store.forUpdate(members.orderBy("userId")).execute();
}

function requireMember(members: MemberRow[], userId: string): MemberRow {
  const member = members.find((each) => each.userId === userId);
  if (!member) throw new AppError("NOT_FOUND", { message: "Member not found" });
  return member;
}

function requireOtherOwner(members: MemberRow[], userId: string): void {
  if (members.some((each) => each.role === "owner" && each.userId !== userId)) return;
  throw new AppError("GENERIC_BAD_REQUEST", { message: "An organisation needs an owner" });
}
