import type { SeenInstance } from "@vocalhost/drivers/driver";
import { FORGOTTEN_AT_ONCE, forgetInstance } from "@vocalhost/drivers/forget-instance";
import { asLeader } from "@vocalhost/store/leadership/leader";
import { BOUND_SESSION_STATES } from "../../pools/instance-state.ts";
import { severalAtOnce } from "../../reconciler/several-at-once.ts";
import { expirePending } from "../../sessions/pending-sessions.ts";
import { stopSession } from "../../sessions/stop-session.ts";
import type { OrganizationId } from "../../identity/principal.ts";
import type { SessionRow } from "@vocalhost/store/schema";
import type { World } from "../../sessions/world.ts";
import type { OutputWork } from "./output-work.ts";

const SESSIONS_MS = 6_500; // the stop grace, the close handshake and a margin
const INSTANCES_GRACE_MS = 1_000;
const CLOSED_MS = 500; // to record sessions whose instance had to be killed
const LOOK_AGAIN_MS = 50;

export interface EndOptions {
  world: World;
  nudge(): void;
  /** Resolves when no instance is being created any more. */
  madeAll(): Promise<void>;
  output: Pick<OutputWork, "drain">;
}

/** Stops every session, waits until all are closed and billed, then ends and removes every instance. */
export async function endAllSessions(options: EndOptions): Promise<void> {
  const { world, nudge } = options;
  const { driver, clock } = world;
  const late = new AbortController();
  const made = Promise.race([options.madeAll(), clock.sleep(SESSIONS_MS, late.signal)]); // or it would be left running
  await closeSessions(world, { nudge, timeoutMs: SESSIONS_MS });
  await made.finally(() => late.abort());
  await drainIdle(world);
  const running = await runningIds(world);
  await Promise.allSettled(running.map((id) => driver.destroy(id, { graceMs: INSTANCES_GRACE_MS })));
  await closeSessions(world, { nudge, timeoutMs: CLOSED_MS });
  await forgetAll(options);
}

// Bots' unredacted output must not stay on the machine. An instance whose row says stopped may still have its object:
// the reconciler removes it one pass later, and there may be no later pass.
async function forgetAll({ world, output }: EndOptions): Promise<void> {
  const objects = await reachedObjects(world);
  const open = new Set((await openSessions(world)).map(({ instanceId }) => instanceId));
  const failures = new Map<string, unknown>();
  await severalAtOnce(objects, {
    atOnce: FORGOTTEN_AT_ONCE,
    async each({ id, state }) {
      try {
        await output.drain(id);
        if (state !== "running" && !open.has(id)) await forgetInstance(world, id);
      } catch (error) {
        failures.set(id, error);
      }
    },
  });
  const [err] = failures.values();
  if (failures.size > 0)
    world.log.warn(
      { err, instanceIds: [...failures.keys()] },
      "some instances could not be forgotten; the next start will try again",
    );
}

async function runningIds(world: World): Promise<string[]> {
  return (await reachedObjects(world)).flatMap(({ id, state }) => (state === "running" ? [id] : []));
}

/** Returns the objects of reachable regions; an unreachable region must not delay the shutdown. */
async function reachedObjects({ driver }: World): Promise<SeenInstance[]> {
  const objects = await driver.list();
  const away = driver.regional?.away();
  return objects.filter(({ region = "" }) => !away?.has(region));
}

// Recorded before the instances end, so that their exit does not count as a crash.
async function drainIdle(world: World): Promise<void> {
  await asLeader(world, (tx) =>
    tx
      .updateTable("instances")
      .set((row) => ({
        state: "draining",
        cause: "the service is shutting down",
        stateAt: world.clock.nowMs(),
        version: row("version", "+", 1),
      }))
      .where("state", "in", ["requested", "starting", "ready"])
      .execute(),
  );
}

async function closeSessions(
  world: World,
  { nudge, timeoutMs }: { nudge(): void; timeoutMs: number },
): Promise<void> {
  const { clock } = world;
  const untilMs = clock.monotonicMs() + timeoutMs;
  const nowMs = clock.nowMs();
  await asLeader(world, (tx) => expirePending(tx, { nowMs, reason: "stopped" }));
  // Read again each time: a start in progress may have added a session.
  for (let open = await openSessions(world); open.length > 0; open = await openSessions(world)) {
    for (const session of open) if (session.stopRequestedAt === null) await stop(world, session);
    if (clock.monotonicMs() >= untilMs) return;
    nudge();
    await clock.sleep(LOOK_AGAIN_MS);
  }
}

async function stop(world: World, session: OpenSession): Promise<void> {
  const { id: sessionId, agentId } = session;
  const organizationId = session.organizationId as OrganizationId;
  await stopSession(world, { organizationId, agentIds: [agentId], sessionId, actor: "system" }).catch(
    (error: unknown) => world.log.warn({ err: error, sessionId }, "session could not be stopped"),
  );
}

type OpenSession = Pick<SessionRow, "id" | "organizationId" | "agentId" | "instanceId" | "stopRequestedAt">;

async function openSessions({ store: { db } }: World): Promise<OpenSession[]> {
  return db
    .selectFrom("sessions")
    .select(["id", "organizationId", "agentId", "instanceId", "stopRequestedAt"])
    .where("state", "in", BOUND_SESSION_STATES)
    .execute();
}
