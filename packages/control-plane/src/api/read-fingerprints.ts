import type { ChangeKind } from "@vocalhost/protocol";
import type { OrganizationId } from "../identity/principal.ts";
import { OPEN_SESSION_STATES } from "../sessions/session-state.ts";
import type { Store } from "@vocalhost/store/store";

/** One text per kind, which differs after every change of that kind. */
export type Fingerprints = Record<ChangeKind, string>;

/** Sums versions, which every update, insert and delete changes. */
export async function readFingerprints(
  { db }: Pick<Store, "db">,
  organizationId: OrganizationId,
): Promise<Fingerprints> {
  const [agents, deployments, instances, open, newest, builds] = await Promise.all([
    db
      .selectFrom("agents")
      .select(({ fn }) => [fn.countAll().as("rows"), fn.sum("version").as("versions")])
      .where("organizationId", "=", organizationId)
      .where("state", "<>", "deleted")
      .executeTakeFirst(),
    db
      .selectFrom("deployments")
      .innerJoin("agents", "agents.id", "deployments.agentId")
      .select(({ fn }) => [
        fn.countAll().as("rows"),
        fn.sum("deployments.version").as("versions"),
        fn.sum("deployments.crashes").as("crashes"),
      ])
      .where("agents.organizationId", "=", organizationId)
      .where("agents.state", "<>", "deleted")
      .executeTakeFirst(),
    db
      .selectFrom("instances")
      .select(({ fn }) => [fn.countAll().as("rows"), fn.sum("version").as("versions")])
      .where("organizationId", "=", organizationId)
      .where("state", "in", ["requested", "starting", "ready", "busy", "draining"])
      .executeTakeFirst(),
    db
      .selectFrom("sessions")
      .select(({ fn }) => [fn.countAll().as("rows"), fn.sum("version").as("versions")])
      .where("organizationId", "=", organizationId)
      .where("state", "in", [...OPEN_SESSION_STATES])
      .executeTakeFirst(),
    // Detects a session that began and ended between two queries.
    db
      .selectFrom("sessions")
      .select("id")
      .where("organizationId", "=", organizationId)
      .orderBy("createdAt", "desc")
      .limit(1)
      .executeTakeFirst(),
    db
      .selectFrom("builds")
      .select(({ fn }) => [fn.countAll().as("rows"), fn.max("updatedAt").as("updatedAt")])
      .where("organizationId", "=", organizationId)
      .executeTakeFirst(),
  ]);
  return {
    agents: JSON.stringify(agents),
    deployments: JSON.stringify(deployments),
    instances: JSON.stringify(instances),
    sessions: JSON.stringify([open, newest]),
    builds: JSON.stringify(builds),
  };
}
