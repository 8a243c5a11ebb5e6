import type { Db, Store } from "@vocalhost/store/store";
import { addMasterKey, openMasterKeyFile, parseMasterKeys, type MasterKeys } from "./master-keys.ts";
import { neededMasterKeys, requireKnownMasterKeys, rewrapSecrets } from "./rewrap.ts";

const SETTING = "master-key";

export interface RotateOptions {
  store: Store;
  /** The keys in the settings, which only the operator can change. */
  configured: string | undefined;
  file: string;
  /** Whether a controller leads. */
  isRunning: boolean;
  progress(text: string): void;
}

export type Rotated =
  /** The running service encrypts with another key until it restarts. */
  | { state: "restart"; key: string; where: string }
  /** No data in the store needs the old keys. */
  | { state: "done"; key: string; where: string; moved: number; old: string[] };

/**
 * Creates a master key and moves all secrets to it. A repeated call continues an interrupted rotation, or one that
 * waits for a restart.
 */
export async function rotateMasterKey(options: RotateOptions): Promise<Rotated> {
  const { store, configured, file, isRunning, progress } = options;
  const where = configured === undefined ? file : "VOCALHOST_MASTER_KEYS";
  const keys = configured === undefined ? await keysOfFile(options) : parseMasterKeys(configured);
  await requireKnownMasterKeys(store, keys, where);
  const [{ id: key }, ...others] = keys;
  if (isRunning && (await readSealingKey(store.db)) !== key) return { state: "restart", key, where };
  const moved = await rewrapSecrets(store, keys, (done, of) =>
    progress(`${done} of ${of} versions of secrets`),
  );
  return { state: "done", key, where, moved, old: others.map(({ id }) => id) };
}

/** A second key in the file belongs to an unfinished rotation. */
async function keysOfFile({ store, file }: RotateOptions): Promise<MasterKeys> {
  const needed = await neededMasterKeys(store);
  const { keys, created } = await openMasterKeyFile(file, { mayCreate: needed.length === 0 });
  return keys.length > 1 || created ? keys : addMasterKey(file);
}

/** Stores the id of the leader's current master key. */
export async function noteSealingKey(store: Store, [{ id }]: MasterKeys): Promise<void> {
  await store.transaction((tx) =>
    tx
      .insertInto("settings")
      .values({ name: SETTING, value: id })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ value: id }))
      .execute(),
  );
}

async function readSealingKey(db: Db): Promise<string | undefined> {
  const row = await db.selectFrom("settings").select("value").where("name", "=", SETTING).executeTakeFirst();
  return row?.value;
}
