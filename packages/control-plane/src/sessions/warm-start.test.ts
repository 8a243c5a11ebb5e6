// What a start costs the store: each message to SQLite's thread is two changes of thread, each commit a write to the disk.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Worker } from "node:worker_threads";
import { insertKey } from "../identity/api-keys.ts";
import type { KeyPrincipal, OrganizationId } from "../identity/principal.ts";
import { openSqliteStore } from "@vocalhost/store/sqlite";
import type { Statement } from "@vocalhost/store/sqlite-engine";
import type { Store } from "@vocalhost/store/store";
import { NO_PREFERENCE } from "./choose-region.ts";
import type { DoorContext } from "./doors/door.ts";
import { createSessionDoors, type SessionDoors } from "./doors/session-doors.ts";
import { addWarmAgent, prepareOrganization, starterOn } from "./testing/warm-pools.ts";

interface Cost {
  messages: number;
  commits: number;
}

test("a warm start over a WebSocket costs seven messages to the store and three commits", async () => {
  await using ground = await prepare();
  const { doors, principal } = ground;
  const asked = { ...start(principal), transport: "websocket" as const };
  const started = await ground.costOf(() => doors.start(asked));
  const { token } = started.value.answer as { token: string };
  assert.deepEqual(started.cost, { messages: 3, commits: 1 });
  const routed = await ground.costOf(() => doors.routeSocket({ ingress: "generic", token }));
  assert.deepEqual(routed.cost, { messages: 4, commits: 2 });
  assert.equal(routed.value.sessionId, started.value.sessionId);
});

test("a warm start over WebRTC costs three messages to the store and two commits, with a key for repeats too", async () => {
  await using ground = await prepare();
  const { doors, principal } = ground;
  for (const idempotencyKey of [undefined, "once"]) {
    const asked = { ...start(principal), transport: "webrtc" as const, idempotencyKey };
    const { cost } = await ground.costOf(() => doors.start(asked));
    assert.deepEqual(cost, { messages: 3, commits: 2 });
  }
});

test("starts that come together share their commits", async () => {
  await using ground = await prepare();
  const { doors, principal } = ground;
  const asked = { ...start(principal), transport: "webrtc" as const };
  const crowd = () => Promise.all(Array.from({ length: PLACES }, () => doors.start(asked)));
  const { value, cost } = await ground.costOf(crowd);
  assert.equal(new Set(value.map(({ sessionId }) => sessionId)).size, PLACES);
  assert.ok(cost.commits <= PLACES, `${cost.commits} commits of ${2 * PLACES} transactions`);
});

const PLACES = 20;

interface Ground extends AsyncDisposable {
  doors: SessionDoors;
  principal: KeyPrincipal;
  costOf<T>(run: () => Promise<T>): Promise<{ value: T; cost: Cost }>;
}

async function prepare(): Promise<Ground> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-warm-start-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const sent: (readonly Statement[])[] = [];
  process.once("worker", (worker) => watch(worker, sent));
  const file = join(folder, "store.db");
  const store = stack.use(await openSqliteStore({ file, ballastBytes: 64 * 1024 }));
  const organizationId = await prepareOrganization(store);
  await addWarmAgent(store, organizationId, { id: "agent", name: "parrot", maxAgents: PLACES });
  const doors = createSessionDoors({ ...contextOn(store), admit: () => Promise.reject(new Error("no")) });
  const principal = await addKey(store, organizationId);
  const owned = stack.move();
  return {
    doors,
    principal,
    async costOf(run) {
      sent.length = 0;
      const value = await run();
      const commits = sent.flat().filter(({ sql }) => sql === "commit").length;
      return { value, cost: { messages: sent.length, commits } };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function watch(worker: Worker, sent: (readonly Statement[])[]): void {
  const post = worker.postMessage.bind(worker);
  worker.postMessage = (request: { statements?: readonly Statement[] }) => {
    if (request.statements) sent.push(request.statements);
    post(request);
  };
}

function contextOn(store: Store): DoorContext {
  const none = () => Promise.reject(new Error("There is none"));
  return {
    starter: starterOn(store, new Map()),
    signer: { secret: "0123456789abcdef" },
    iceServersOf: () => [],
    queueMs: 0,
    instanceToken: () => "",
    callbackUrl: "",
    rooms: {
      ...{ require: none, make: none, readCall: none, forwardCall: none, close: none },
      readReady: async () => undefined,
    },
    dialling: { takesPublicKeys: false, accountsOf: none },
  };
}

/** One that may only have so many sessions at once, which has to be looked up in every start. */
async function addKey(store: Store, organizationId: OrganizationId): Promise<KeyPrincipal> {
  const input = { kind: "public", name: "page", concurrency: PLACES } as const;
  const { id } = await store.transaction((tx) =>
    insertKey(tx, organizationId, input, { actor: "test", nowMs: 1 }),
  );
  return {
    ...{ kind: "key", keyKind: "public", keyId: id, organizationId },
    ...{ agents: null, ratePerMinute: null, concurrency: PLACES },
  };
}

function start(principal: KeyPrincipal) {
  return {
    principal,
    address: "192.0.2.1",
    agentName: "parrot",
    body: { from: "test" },
    enableDefaultIceServers: false,
    room: { requested: "room", roomProperties: undefined, tokenProperties: undefined, token: undefined },
    region: NO_PREFERENCE,
    dialout: undefined,
    idempotencyKey: undefined,
    wsBase: "",
  };
}
