// How often a start waits for the disk: once for each commit.
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

test("a warm start over a WebSocket waits for three commits", async () => {
  await using ground = await prepare();
  const { doors, principal } = ground;
  const asked = { ...start(principal), transport: "websocket" as const };
  const started = await ground.commitsOf(() => doors.start(asked));
  const { token } = started.value.answer as { token: string };
  assert.equal(started.commits, 1);
  const routed = await ground.commitsOf(() => doors.routeSocket({ ingress: "generic", token }));
  assert.equal(routed.commits, 2);
  assert.equal(routed.value.sessionId, started.value.sessionId);
});

test("a warm start over WebRTC waits for two commits, with an Idempotency-Key too", async () => {
  await using ground = await prepare();
  const { doors, principal } = ground;
  for (const idempotencyKey of [undefined, "once"]) {
    const asked = { ...start(principal), transport: "webrtc" as const, idempotencyKey };
    const { commits } = await ground.commitsOf(() => doors.start(asked));
    assert.equal(commits, 2);
  }
});

test("starts at once get an instance each", async () => {
  await using ground = await prepare();
  const { doors, principal } = ground;
  const asked = { ...start(principal), transport: "webrtc" as const };
  const started = await Promise.all(Array.from({ length: PLACES }, () => doors.start(asked)));
  assert.equal(new Set(started.map(({ sessionId }) => sessionId)).size, PLACES);
});

const PLACES = 20;

interface Ground extends AsyncDisposable {
  doors: SessionDoors;
  principal: KeyPrincipal;
  commitsOf<T>(run: () => Promise<T>): Promise<{ value: T; commits: number }>;
}

async function prepare(): Promise<Ground> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-warm-start-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const sent: Statement[] = [];
  process.once("worker", (worker) => watch(worker, sent));
  const file = join(folder, "store.db");
  const store = stack.use(await openSqliteStore({ file, reserveBytes: 64 * 1024 }));
  const organizationId = await prepareOrganization(store);
  await addWarmAgent(store, organizationId, { id: "agent", name: "parrot", maxAgents: PLACES });
  const doors = createSessionDoors({ ...contextOn(store), admit: () => Promise.reject(new Error("no")) });
  const principal = await addKey(store, organizationId);
  const owned = stack.move();
  return {
    doors,
    principal,
    async commitsOf(run) {
      sent.length = 0;
      const value = await run();
      return { value, commits: sent.filter(({ sql }) => sql === "commit").length };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function watch(worker: Worker, sent: Statement[]): void {
  const post = worker.postMessage.bind(worker);
  worker.postMessage = (request: { statement?: Statement }) => {
    if (request.statement) sent.push(request.statement);
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

/** Adds a key that may only have so many sessions at once, which every start has to count. */
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
