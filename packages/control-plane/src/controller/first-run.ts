import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { insertKey } from "../auth/api-keys.ts";
import { insertLink } from "../auth/links.ts";
import type { People } from "../auth/people.ts";
import type { OrganizationId } from "../auth/principal.ts";
import { createOrganization } from "../organizations/organizations.ts";
import type { Store } from "../store/store.ts";

/** What the first start makes and shows once; scripts read it from `first-run.json`. */
export interface FirstRun {
  /** Ends in `/v1`. */
  apiUrl: string;
  dashboardUrl: string;
  organization: string;
  privateKey: string;
  publicKey: string;
  /** Makes whoever opens it the owner; once, within 24 hours. */
  ownerLink: string;
}

export interface FirstRunOptions {
  store: Store;
  dataFolder: string;
  publicUrl: string;
  nowMs: number;
}

export const FIRST_RUN_FILE = "first-run.json";
const DONE = "first-run";
const ORGANIZATION = "main";
const LINK_MS = 24 * 3_600_000;

/** Makes an organisation, a key of each kind and a link for its owner, unless that was done. */
export async function firstRun(options: FirstRunOptions): Promise<FirstRun | undefined> {
  const { store, nowMs, publicUrl } = options;
  return store.transaction(async (tx) => {
    const done = await tx.selectFrom("settings").select("name").where("name", "=", DONE).executeTakeFirst();
    if (done) return undefined;
    const by = { actor: "system", nowMs };
    const organizationId = await createOrganization(tx, { name: ORGANIZATION }, by);
    const privateKey = await insertKey(
      tx,
      organizationId,
      { kind: "private", name: "First private key" },
      by,
    );
    const publicKey = await insertKey(tx, organizationId, { kind: "public", name: "First public key" }, by);
    const token = await insertLink(tx, {
      organizationId,
      role: "owner",
      email: null,
      invitedBy: "system",
      expiresAt: nowMs + LINK_MS,
    });
    await tx
      .insertInto("settings")
      .values({ name: DONE, value: String(nowMs) })
      .execute();
    const made: FirstRun = {
      apiUrl: `${publicUrl}/v1`,
      dashboardUrl: publicUrl,
      organization: ORGANIZATION,
      privateKey: privateKey.value,
      publicKey: publicKey.value,
      ownerLink: ownerUrl(publicUrl, token),
    };
    // Before the commit: keys that are nowhere to be read would be lost.
    await writeFirstRun(options.dataFolder, made);
    return made;
  });
}

/** Another one, as long as nobody has used one; the earlier is cancelled. */
export async function newOwnerLink(options: {
  store: Store;
  people: Pick<People, "createOwnerLink">;
  publicUrl: string;
}): Promise<string | undefined> {
  const { store, people, publicUrl } = options;
  const owner = await store.db
    .selectFrom("members")
    .select("userId")
    .where("role", "=", "owner")
    .executeTakeFirst();
  const organization = await store.db
    .selectFrom("organizations")
    .select("id")
    .orderBy("createdAt")
    .executeTakeFirst();
  if (owner || !organization) return undefined;
  return ownerUrl(publicUrl, await people.createOwnerLink(organization.id as OrganizationId));
}

function ownerUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/owner#${token}`; // behind the #, so that it gets into no log
}

async function writeFirstRun(folder: string, made: FirstRun): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, FIRST_RUN_FILE);
  await writeFile(`${path}.new`, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
