import { randomUUID } from "node:crypto";
import { AppError } from "@vocalhost/protocol";
import { writeAudit } from "../audit.ts";
import { addMember, listMembers } from "../members.ts";
import type { OrganizationId } from "../principal.ts";
import type { MemberRow, OrganizationRow } from "@vocalhost/store/schema";
import type { Db, Store, Tx } from "@vocalhost/store/store";

/** A name is part of socket addresses (`agent.organization`), so it is one label of a host name. */
const NAME = /^[a-z0-9]([-a-z0-9]{0,52}[a-z0-9])$/;

export interface OrganizationInput {
  name: string;
  /** @default the name */
  verboseName?: string | undefined;
}

export async function createOrganization(
  tx: Tx,
  input: OrganizationInput,
  { actor, nowMs }: { actor: string; nowMs: number },
): Promise<OrganizationId> {
  if (!NAME.test(input.name)) {
    throw badRequest("An organisation's name has 2 to 54 lower-case letters, digits and hyphens");
  }
  const id = randomUUID() as OrganizationId;
  const result = await tx
    .insertInto("organizations")
    .values({
      id,
      name: input.name,
      verboseName: input.verboseName ?? input.name,
      properties: "{}",
      createdAt: nowMs,
    })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .executeTakeFirst();
  if (result.numInsertedOrUpdatedRows !== 1n) {
    throw new AppError("CONFLICT", { message: `There is an organisation named '${input.name}'` });
  }
  await writeAudit(tx, {
    organizationId: id,
    at: nowMs,
    actor,
    action: "organization-created",
    target: `organization:${id}`,
    details: { name: input.name },
  });
  return id;
}

/**
 * Creates an organisation owned by the caller. Only owners of the first organisation may: for others it would be a
 * way around their quotas.
 */
export async function foundOrganization(
  store: Store,
  input: OrganizationInput,
  { userId, actor, nowMs }: { userId: string; actor: string; nowMs: number },
): Promise<void> {
  await store.transaction(async (tx) => {
    const first = await tx
      .selectFrom("organizations")
      .select(["id", "verboseName"])
      .orderBy("createdAt")
      .orderBy("id")
      .executeTakeFirstOrThrow();
    const members = await listMembers(tx, first.id as OrganizationId);
    if (!members.some((member) => member.userId === userId && member.role === "owner"))
      throw new AppError("ACCESS_DENIED", {
        message: `Only owners of '${first.verboseName}', who run this service, may create organisations: ask one of them`,
      });
    const organizationId = await createOrganization(tx, input, { actor, nowMs });
    await addMember(tx, organizationId, { userId, role: "owner" }, { actor, nowMs });
  });
}

export async function readOrganization(db: Db, organizationId: OrganizationId): Promise<OrganizationRow> {
  const row = await db
    .selectFrom("organizations")
    .selectAll()
    .where("id", "=", organizationId)
    .executeTakeFirst();
  if (!row) throw new AppError("NOT_FOUND", { message: "Organization not found" });
  return row;
}

/** Returns the oldest membership first. */
export async function organizationsOf(
  db: Db,
  userId: string,
): Promise<(Pick<OrganizationRow, "id" | "name" | "verboseName"> & Pick<MemberRow, "role">)[]> {
  return await db
    .selectFrom("members")
    .innerJoin("organizations", "organizations.id", "members.organizationId")
    .select(["organizations.id", "organizations.name", "organizations.verboseName", "members.role"])
    .where("members.userId", "=", userId)
    .orderBy("members.createdAt")
    .orderBy("members.organizationId")
    .execute();
}

function badRequest(message: string): AppError {
  return new AppError("GENERIC_BAD_REQUEST", { message });
}
