import type { Region } from "../config.ts";
import type { Db } from "@vocalhost/store/store";

const THIS_MACHINE: Region = { code: "this-machine", displayName: "This machine" };
const FORMER_CODE = "us-west"; // of the default region, in stores made by the first releases

/**
 * Returns the configured regions, or one that stands for this machine. That one keeps its former code if agents,
 * secret sets or builds use it. References in the store and in any `vocalhost.toml` then stay valid.
 */
export async function findRegions(db: Db, configured: Region[] | undefined): Promise<Region[]> {
  if (configured) return configured;
  return [(await isNamed(db, FORMER_CODE)) ? { ...THIS_MACHINE, code: FORMER_CODE } : THIS_MACHINE];
}

async function isNamed(db: Db, region: string): Promise<boolean> {
  const agents = db.selectFrom("agents").select("id").where("region", "=", region);
  const sets = db.selectFrom("secretSets").select("id").where("region", "=", region);
  const builds = db.selectFrom("builds").select("id").where("region", "=", region);
  const named = agents.where("state", "<>", "deleted").unionAll(sets).unionAll(builds);
  return (await named.limit(1).executeTakeFirst()) !== undefined;
}
