import { roomProviderNames, type Connect, type RoomProviderName } from "@vocalhost/protocol";
import { asLeader } from "@vocalhost/store/leadership/leader";
import type { SessionRoomRow } from "@vocalhost/store/schema";
import type { Db, Tx } from "@vocalhost/store/store";
import type { World } from "./world.ts";
import { OPEN_SESSION_STATES } from "./session-state.ts";

/** A caller on hold, and the room that was made for the call. */
export interface HeldCall {
  callId: string;
  callDomain: string;
}

const LOOK_MS = 2_000;
const AT_A_TIME = 50;
const AGAIN_MS = 60_000;
const FAILURES_MAX = 3; // in a row; then the provider is in trouble, and asked again at the next look
const LASTS_MS = 4 * 3_600_000; // then Daily ends it by itself
// A start whose instance died is tried again with the same room, as another session.
const SETTLED_MS = 5_000;

/** In the transaction that makes the session. A room of another session is not ours to close. */
export async function rememberRoom(tx: Tx, connect: Connect, sessionId: string): Promise<void> {
  if (connect.kind !== "room" || connect.isGuest) return;
  const { provider, roomName, callData } = connect;
  const call = provider === "daily" ? callData : undefined;
  const callId = call?.callId ?? null;
  const callDomain = call?.streamId ?? null;
  const row = { sessionId, provider, roomName, callId, callDomain };
  await tx.insertInto("sessionRooms").values(row).execute();
}

/** The call that waits for this room. */
export async function findHeldCall(db: Db, roomName: string): Promise<HeldCall | undefined> {
  const row = await db
    .selectFrom("sessionRooms")
    .innerJoin("sessions", "sessions.id", "sessionRooms.sessionId")
    .select(["callId", "callDomain"])
    .where("roomName", "=", roomName)
    .where("sessions.state", "in", OPEN_SESSION_STATES)
    .executeTakeFirst();
  if (!row || row.callId === null || row.callDomain === null) return undefined;
  return { callId: row.callId, callDomain: row.callDomain };
}

/** Closes the room of a failed start, unless the start was repeated under the same key and its session uses the room. */
export async function closeUnlessUsed(
  { store, log }: Pick<World, "store" | "log">,
  { name, close }: { name: string; close(): Promise<void> },
): Promise<void> {
  try {
    if (!(await isUsed(store.db, name))) await close();
  } catch (error) {
    log.warn({ err: error }, "room of a failed start could not be closed");
  }
}

export interface RoomCloserOptions {
  world: Pick<World, "store" | "clock" | "epoch" | "log">;
  close(provider: RoomProviderName, roomName: string): Promise<void>;
}

/** Closes the rooms of sessions that are over. A room that its provider does not close is tried again for as long as it may last. */
export function createRoomCloser({ world, close }: RoomCloserOptions): {
  name: string;
  run(signal: AbortSignal): Promise<void>;
  pass(): Promise<void>;
} {
  const { store, clock, log } = world;

  async function closeOne({ sessionId, provider, roomName }: EndedRoom): Promise<boolean> {
    try {
      if (!(await isUsed(store.db, roomName))) await close(provider, roomName);
      return true;
    } catch (error) {
      log.warn({ err: error, sessionId, provider }, "room of an ended session could not be closed");
      return false;
    }
  }

  async function passOf(provider: RoomProviderName): Promise<void> {
    const nowMs = clock.nowMs();
    let failuresInARow = 0;
    for (const room of await endedRooms(store.db, { provider, nowMs })) {
      const { sessionId } = room;
      const isClosed = await closeOne(room);
      const isGivenUp = (room.endedAt ?? 0) < nowMs - LASTS_MS;
      await asLeader(world, async (tx) => {
        if (isClosed || isGivenUp)
          await tx.deleteFrom("sessionRooms").where("sessionId", "=", sessionId).execute();
        else await putOff(tx, sessionId, clock.nowMs() + AGAIN_MS);
      });
      failuresInARow = isClosed ? 0 : failuresInARow + 1;
      if (failuresInARow === FAILURES_MAX) return;
    }
  }

  async function keepPassing(provider: RoomProviderName, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await passOf(provider);
      await clock.sleep(LOOK_MS, signal);
    }
  }

  return {
    name: "closing rooms",
    /** Each provider by itself: one that answers late holds up no other. */
    async run(signal) {
      const ending = new AbortController();
      const until = AbortSignal.any([signal, ending.signal]);
      const ended = await Promise.allSettled(
        roomProviderNames.map((provider) => keepPassing(provider, until).finally(() => ending.abort())),
      );
      for (const each of ended) if (each.status === "rejected") throw each.reason;
    },
    async pass() {
      for (const provider of roomProviderNames) await passOf(provider);
    },
  };
}

async function putOff(tx: Tx, sessionId: string, againAt: number): Promise<void> {
  await tx.updateTable("sessionRooms").set({ againAt }).where("sessionId", "=", sessionId).execute();
}

interface EndedRoom extends Pick<SessionRoomRow, "sessionId" | "provider" | "roomName"> {
  endedAt: number | null;
}

/**
 * Those whose turn it is; new ones before those that failed. From the few rooms to their sessions: in a join of another kind
 * SQLite looks at every session there ever was.
 */
function endedRooms(
  db: Db,
  { provider, nowMs }: { provider: RoomProviderName; nowMs: number },
): Promise<EndedRoom[]> {
  return (
    db
      .selectFrom("sessionRooms")
      .crossJoin("sessions")
      .whereRef("sessions.id", "=", "sessionRooms.sessionId")
      .select(["sessionId", "provider", "roomName", "sessions.endedAt"])
      .where("provider", "=", provider)
      // None waits for longer than `AGAIN_MS`: then the clock was set back.
      .where((is) => is.or([is("againAt", "<=", nowMs), is("againAt", ">", nowMs + AGAIN_MS)]))
      .where("sessions.state", "not in", OPEN_SESSION_STATES)
      .where("sessions.endedAt", "<", nowMs - SETTLED_MS)
      .orderBy("againAt")
      .orderBy("sessions.endedAt")
      .limit(AT_A_TIME)
      .execute()
  );
}

async function isUsed(db: Db, roomName: string): Promise<boolean> {
  const row = await db
    .selectFrom("sessionRooms")
    .innerJoin("sessions", "sessions.id", "sessionRooms.sessionId")
    .select("sessionId")
    .where("roomName", "=", roomName)
    .where("sessions.state", "in", OPEN_SESSION_STATES)
    .executeTakeFirst();
  return row !== undefined;
}
