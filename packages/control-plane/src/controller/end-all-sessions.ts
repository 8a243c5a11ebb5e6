import { OPEN_SESSION_STATES } from "../sessions/session-state.ts";
import { stopSession } from "../sessions/stop-session.ts";
import type { OrganizationId } from "../auth/principal.ts";
import type { World } from "../world.ts";
import type { OutputWork } from "./output-work.ts";

const SESSIONS_MS = 6_000; // the stop grace and a little
const INSTANCES_GRACE_MS = 1_000;
const LOOK_AGAIN_MS = 50;

/** Stops every session, waits until they are closed and billed, then ends every instance. */
export async function endAllSessions(options: {
  world: World;
  nudge(): void;
  output: OutputWork;
}): Promise<void> {
  const { world, nudge } = options;
  const { store, clock, driver, log } = world;
  const untilMs = clock.monotonicMs() + SESSIONS_MS;
  for (const session of await openSessions(world))
    await stopSession(world, {
      organizationId: session.organizationId as OrganizationId,
      agentId: session.agentId,
      sessionId: session.id,
      actor: "system",
    }).catch((error: unknown) =>
      log.warn({ err: error, sessionId: session.id }, "session could not be stopped"),
    );
  while ((await openSessions(world)).length > 0 && clock.monotonicMs() < untilMs) {
    nudge();
    await clock.sleep(LOOK_AGAIN_MS);
  }
  const objects = (await driver.list()).filter(({ state }) => state === "running");
  await Promise.allSettled(objects.map(({ id }) => driver.destroy(id, { graceMs: INSTANCES_GRACE_MS })));
  const rows = await store.db.selectFrom("instances").select("id").where("state", "!=", "stopped").execute();
  await Promise.allSettled(rows.map(({ id }) => options.output.drain(id)));

  async function openSessions({ store: { db } }: World) {
    return db.selectFrom("sessions").selectAll().where("state", "in", OPEN_SESSION_STATES).execute();
  }
}
