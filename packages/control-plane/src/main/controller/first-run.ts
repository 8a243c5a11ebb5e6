import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { insertKey } from "../../identity/api-keys.ts";
import { findLink, insertLink } from "../../identity/links.ts";
import type { People } from "../../identity/people.ts";
import type { OrganizationId } from "../../identity/principal.ts";
import { createOrganization } from "../../identity/organizations/organizations.ts";
import type { Store } from "@vocalhost/store/store";
import { FIRST_RUN_FILE, NOT_SHOWN_FILE, type FirstRun } from "./first-run-file.ts";

export interface FirstRunOptions {
  store: Store;
  dataFolder: string;
  publicUrl: string;
  nowMs: number;
}

const OWNER_LINK_FILE = "owner-link.json";
const DONE = "first-run";
const ORGANIZATION = "main";
const LINK_MS = 24 * 3_600_000;

/** Creates an organisation, a key of each kind and a link for its owner, unless they exist. */
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
    // Written before the commit: keys stored only as hashes would be lost.
    await writeOwn(options.dataFolder, NOT_SHOWN_FILE, {});
    await keepEarlier(options);
    await writeOwn(options.dataFolder, FIRST_RUN_FILE, made);
    return made;
  });
}

/** Returns the printed link while it is unused, or a new one after it has expired. */
export async function openOwnerLink(
  options: FirstRunOptions & { people: Pick<People, "createOwnerLink"> },
): Promise<string | undefined> {
  const { store, people, publicUrl, dataFolder, nowMs } = options;
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
  for (const token of await knownTokens(dataFolder))
    if (await findLink(store.db, token, nowMs)) return ownerUrl(publicUrl, token);
  const token = await people.createOwnerLink(organization.id as OrganizationId);
  await writeOwn(dataFolder, OWNER_LINK_FILE, { ownerLink: ownerUrl(publicUrl, token) });
  return ownerUrl(publicUrl, token);
}

// The store holds only hashes, and a restarted controller must not invalidate the printed link.
async function knownTokens(dataFolder: string): Promise<string[]> {
  const texts = await Promise.all(
    [OWNER_LINK_FILE, FIRST_RUN_FILE].map((name) => readFile(join(dataFolder, name), "utf8").catch(() => "")),
  );
  return texts.flatMap((text) => /"ownerLink": "[^"#]*#([^"]+)"/.exec(text)?.[1] ?? []);
}

function ownerUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/owner#${token}`; // behind the #, so that it appears in no log
}

/** Keeps the file of an earlier first start, which may hold the only copy of its keys. */
async function keepEarlier({ dataFolder, nowMs }: FirstRunOptions): Promise<void> {
  const path = join(dataFolder, FIRST_RUN_FILE);
  if (existsSync(path)) await rename(path, join(dataFolder, `first-run-until-${nowMs}.json`));
}

async function writeOwn(folder: string, name: string, content: object): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  await writeFile(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
