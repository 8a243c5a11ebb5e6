import type { Connect } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { pause, until } from "../../../../testing/wait.ts";
import { silentLog } from "@vocalhost/base/log";
import type { SessionState } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { sessionRow } from "@vocalhost/store/testing/store-contract";
import { createTestClock } from "@vocalhost/base/testing/test-clock";
import { createRoomCloser, findHeldCall, rememberRoom } from "./session-rooms.ts";

const SETTLED_MS = 6_000;
const HOUR_MS = 3_600_000;

type RoomConnect = Extract<Connect, { kind: "room" }>;

function roomConnect(roomName: string, more: Partial<RoomConnect> = {}): RoomConnect {
  const urls = { roomUrl: "https://a.daily.co/r", clientUrl: "https://a.daily.co/r", token: "t" };
  return { kind: "room", provider: "daily", roomName, guestTokens: [], ...urls, ...more };
}

const CALL = { streamId: "domain", callId: "call", from: "+1", to: "+2", body: {} };

async function makeSession(
  store: Store,
  id: string,
  state: SessionState,
  connect: Connect,
  overAt = 0,
): Promise<void> {
  const endedAt = ["ended", "failed"].includes(state) ? overAt : null;
  await store.transaction(async (tx) => {
    await tx.insertInto("sessions").values(sessionRow({ id, state, endedAt })).execute();
    await rememberRoom(tx, connect, id);
  });
}

eachStore((open) => {
  test("the rooms of ended sessions are closed, those of others and of their hosts are not", async () => {
    await using store = await open();
    const { pass, closed, clock } = await openCloser(store);
    await makeSession(store, "ended", "ended", roomConnect("over"));
    await makeSession(store, "live", "active", roomConnect("going on"));
    await makeSession(store, "guest", "ended", roomConnect("of another", { isGuest: true }));
    await makeSession(store, "tried", "failed", roomConnect("second attempt"));
    await makeSession(store, "again", "active", roomConnect("second attempt"));
    await makeSession(store, "socket", "ended", { kind: "socket" });
    clock.now = SETTLED_MS - 5_000;
    await pass();
    assert.deepEqual(closed, [], "a start may still be tried again");
    clock.now = SETTLED_MS;
    await pass();
    await pass();
    assert.deepEqual(closed, ["daily over"]);
    const left = await store.db.selectFrom("sessionRooms").select("sessionId").orderBy("sessionId").execute();
    assert.deepEqual(
      left.map(({ sessionId }) => sessionId),
      ["again", "live"],
    );
  });

  test("what a provider refuses is tried again, not at once and not for ever", async () => {
    await using store = await open();
    const refusals = { left: 2 };
    const { pass, closed, tried, clock } = await openCloser(store, refusals);
    await makeSession(store, "one", "ended", roomConnect("stubborn"));
    clock.now = SETTLED_MS;
    await pass();
    await pass();
    assert.deepEqual(tried, ["daily stubborn"]);
    clock.now += 60_000;
    await pass();
    clock.now += 60_000;
    await pass();
    assert.deepEqual([tried.length, closed], [3, ["daily stubborn"]]);
    refusals.left = Infinity;
    await makeSession(store, "two", "ended", roomConnect("gone for good"));
    clock.now = 5 * HOUR_MS;
    await pass();
    assert.deepEqual(await store.db.selectFrom("sessionRooms").selectAll().execute(), []);
  });

  test("rooms that wait for another try hold up no others, however many they are", async () => {
    await using store = await open();
    const { pass, closed, refuse, clock } = await openCloser(store);
    refuse(({ roomName }) => roomName.startsWith("stubborn"));
    for (let index = 0; index < 60; index += 1)
      await makeSession(store, `s-${index}`, "ended", roomConnect(`stubborn ${index}`));
    clock.now = SETTLED_MS;
    for (let passes = 0; passes < 30; passes += 1) await pass();
    await makeSession(store, "later", "ended", roomConnect("easy"), 1);
    for (let passes = 0; passes < 2; passes += 1) await pass();
    assert.deepEqual(closed, ["daily easy"]);

    clock.now += 60_000; // all of them come due at once, and a new one goes first
    await makeSession(store, "last", "ended", roomConnect("easy too"), 2);
    await pass();
    assert.deepEqual(closed, ["daily easy", "daily easy too"]);
    refuse(() => false);
    clock.now += 60_000;
    for (let passes = 0; passes < 3; passes += 1) await pass();
    assert.equal(closed.length, 62);
    assert.deepEqual(await store.db.selectFrom("sessionRooms").selectAll().execute(), []);
  });

  test("a clock that was ahead does not keep rooms that it has put off", async () => {
    await using store = await open();
    const { pass, closed, refuse, clock } = await openCloser(store);
    await makeSession(store, "s", "ended", roomConnect("room"));
    refuse(() => true);
    clock.now = SETTLED_MS + 2 * 3_600_000;
    await pass();
    refuse(() => false);
    clock.now = SETTLED_MS;
    await pass();
    assert.deepEqual(closed, ["daily room"]);
  });

  test("a provider in trouble holds up no other, and is asked little", async () => {
    await using store = await open();
    const { pass, closed, tried, refuse, clock } = await openCloser(store);
    refuse(({ provider }) => provider === "daily");
    for (let index = 0; index < 60; index += 1)
      await makeSession(store, `s-${index}`, "ended", roomConnect(`room ${index}`));
    await makeSession(store, "other", "ended", roomConnect("elsewhere", { provider: "livekit" }), 1);
    clock.now = SETTLED_MS;
    await pass();
    assert.deepEqual(closed, ["livekit elsewhere"]);
    const asked = tried.filter((each) => each.startsWith("daily")).length;
    assert.ok(asked >= 1 && asked <= 5, `asked ${asked} times`);
    refuse(() => false);
    clock.now += 60_000;
    for (let passes = 0; passes < 3; passes += 1) await pass();
    assert.equal(closed.length, 61);
  });

  test("a provider that answers late holds up no other", async () => {
    await using store = await open();
    const { run, closed, refuse, clock } = await openCloser(store);
    const answered = Promise.withResolvers<boolean>();
    refuse(({ provider }) => provider === "livekit" && answered.promise);
    const livekit = roomConnect("late", { provider: "livekit" });
    await makeSession(store, "late", "ended", livekit);
    await makeSession(store, "easy", "ended", roomConnect("easy"), 1);
    clock.now = SETTLED_MS;
    const ending = new AbortController();
    const running = run(ending.signal);
    await until(() => closed.includes("daily easy"), 30_000, "the other's room to be closed");
    answered.resolve(false);
    await until(() => closed.includes("livekit late"), 30_000, "the late one to be closed");
    ending.abort();
    await running;
  });

  test("a room shows the call that waits for it, while its session lasts", async () => {
    await using store = await open();
    await makeSession(store, "held", "active", roomConnect("for a call", { callData: CALL }));
    await makeSession(store, "plain", "active", roomConnect("for a browser"));
    await makeSession(store, "over", "ended", roomConnect("for a late call", { callData: CALL }));
    const sip = roomConnect("by SIP", { provider: "livekit", callData: CALL });
    await makeSession(store, "there", "active", sip);
    assert.deepEqual(await findHeldCall(store.db, "for a call"), { callId: "call", callDomain: "domain" });
    for (const name of ["for a browser", "for a late call", "by SIP", "somebody else's"])
      assert.equal(await findHeldCall(store.db, name), undefined, name);
  });
});

async function openCloser(store: Store, refusals = { left: 0 }) {
  await store.db.insertInto("leader").values({ id: 1, holder: "test", epoch: 1, until: 1 }).execute();
  const clock = { ...createTestClock(0), sleep: () => pause(5) };
  const [tried, closed]: [string[], string[]] = [[], []];
  let isRefused: (room: { provider: string; roomName: string }) => boolean | Promise<boolean> = () => false;
  const { pass, run } = createRoomCloser({
    world: { store, clock, epoch: 1, log: silentLog },
    async close(provider, roomName) {
      tried.push(`${provider} ${roomName}`);
      refusals.left -= 1;
      if (refusals.left >= 0 || (await isRefused({ provider, roomName }))) throw new Error("not now");
      closed.push(`${provider} ${roomName}`);
    },
  });
  const refuse = (which: typeof isRefused): void => void (isRefused = which);
  return { pass, run, closed, tried, refuse, clock };
}
