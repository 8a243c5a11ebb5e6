import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import type { Db, Tx } from "@vocalhost/store/store";

/** The contents of a one-time link, stored under the hash of its token. */
export const Link = z.object({
  organizationId: z.string(),
  role: z.enum(["owner", "admin", "viewer"]),
  /** Null: the holder chooses the address. */
  email: z.string().nullable(),
  invitedBy: z.string(),
  expiresAt: z.number(),
});
export type Link = z.infer<typeof Link>;

const PREFIX = "link:";

export async function insertLink(tx: Tx, link: Link): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  await tx
    .insertInto("settings")
    .values({ name: nameOf(token), value: JSON.stringify(link) })
    .execute();
  return token;
}

export async function findLink(db: Db, token: string, nowMs: number): Promise<Link | undefined> {
  const row = await db
    .selectFrom("settings")
    .select("value")
    .where("name", "=", nameOf(token))
    .executeTakeFirst();
  return row && unexpired(row.value, nowMs);
}

/** Takes the link; only one caller ever gets it. */
export async function takeLink(tx: Tx, token: string, nowMs: number): Promise<Link | undefined> {
  const row = await tx
    .deleteFrom("settings")
    .where("name", "=", nameOf(token))
    .returning("value")
    .executeTakeFirst();
  return row && unexpired(row.value, nowMs);
}

/** Takes every matching link; also removes expired ones. */
export async function takeLinks(tx: Tx, nowMs: number, isWanted: (link: Link) => boolean): Promise<Link[]> {
  const rows = await tx.selectFrom("settings").selectAll().where("name", "like", `${PREFIX}%`).execute();
  const taken: Link[] = [];
  for (const row of rows) {
    const link = unexpired(row.value, nowMs);
    if (link && !isWanted(link)) continue;
    const gone = await tx.deleteFrom("settings").where("name", "=", row.name).executeTakeFirst();
    if (link && gone.numDeletedRows === 1n) taken.push(link);
  }
  return taken;
}

/** Returns how many it removed. */
export async function forgetExpiredLinks(db: Db, nowMs: number): Promise<number> {
  const rows = await db.selectFrom("settings").selectAll().where("name", "like", `${PREFIX}%`).execute();
  const expired = rows.filter(({ value }) => unexpired(value, nowMs) === undefined);
  for (const { name } of expired) await db.deleteFrom("settings").where("name", "=", name).execute();
  return expired.length;
}

/** Returns the links of one organisation that can still be used. */
export async function listLinks(
  db: Db,
  organizationId: string,
  nowMs: number,
): Promise<(Link & { id: string })[]> {
  const rows = await db.selectFrom("settings").selectAll().where("name", "like", `${PREFIX}%`).execute();
  return rows.flatMap(({ name, value }) => {
    const link = unexpired(value, nowMs);
    return link?.organizationId === organizationId ? [{ ...link, id: name.slice(PREFIX.length) }] : [];
  });
}

export async function deleteLink(tx: Tx, id: string): Promise<void> {
  await tx
    .deleteFrom("settings")
    .where("name", "=", PREFIX + id)
    .execute();
}

/** Returns the hash of a link's token, which identifies the link and does not open it. */
export function linkId(token: string): string {
  return nameOf(token).slice(PREFIX.length);
}

function unexpired(value: string, nowMs: number): Link | undefined {
  const link = Link.parse(JSON.parse(value));
  return link.expiresAt > nowMs ? link : undefined;
}

function nameOf(token: string): string {
  return PREFIX + createHash("sha256").update(token).digest("hex");
}
