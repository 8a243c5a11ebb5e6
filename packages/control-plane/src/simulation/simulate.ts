import type { OrganizationId } from "../identity/principal.ts";
import { newDeployment } from "../agents/deployments/new-deployment.ts";
import { createQuotas, defaultQuotas } from "../identity/quotas/quotas.ts";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { defaultTiming, type Timing } from "@vocalhost/base/timing";
import { anySpec } from "./any-spec.ts";
import { checkAtTheEnd, checkMeanwhile } from "./check.ts";
import {
  bootController,
  type SimulatedAgent,
  type SimulatedController,
  type SimulationSetting,
} from "./controller.ts";
import { createHost } from "./host.ts";
import { createRandom, type Random } from "./random.ts";
import { createVirtualTime } from "./virtual-time.ts";

/** The outcome of one seed. */
export interface SimulationResult {
  seed: number;
  faults: string[];
  sessions: number;
  deaths: number;
}

export const MAX_AGENTS = 4;
export const PENDING_PER_AGENT = 5;
const BUSY_MS = 60_000;
const SETTLE_MS = 80_000;
const BOOT_MAX_MS = 6_000; // one that died while it booted is noticed after this time
const ORGANIZATION = "00000000-0000-4000-8000-000000000001" as OrganizationId;
const AGENT: SimulatedAgent = {
  organizationId: ORGANIZATION,
  id: "00000000-0000-4000-8000-000000000002",
  name: "bot",
};

const timing: Timing = {
  ...defaultTiming,
  reconcileMs: 4_000,
  idleInstanceMs: 3_000, // much scaling down, to race with starts
  demandMs: 4_000,
  socketTokenMs: 20_000,
  startColdMs: 20_000,
  crashBackoffMs: [0, 500, 1_000],
  crashesToFail: 1_000, // deployments do not fail here: starts must go on
};

/** Runs dispatcher, reconciler and meter under virtual time with everything going wrong that can. */
export async function simulate(seed: number): Promise<SimulationResult> {
  const random = createRandom(seed);
  const time = createVirtualTime();
  await using store = await openMemoryStore();
  await seedAgent(store, random, time.nowMs());
  const host = createHost(time, random);
  const instances = random.pick([MAX_AGENTS - 1, defaultQuotas.instances]);
  const setting: SimulationSetting = {
    time,
    random,
    host,
    store,
    timing,
    pendingLimits: { perKey: PENDING_PER_AGENT, perAgent: PENDING_PER_AGENT },
    quotasOf: createQuotas({ ...defaultQuotas, instances }),
    mediaPorts: { first: 40_000, last: 49_999 }, // more than ever live; the store refuses one that two would have
    cores: 1,
    listMs: 5,
    lateRate: 0.05,
    deathRate: random.pick([0, 0.002, 0.01, 0.03]),
  };
  let controller: SimulatedController | undefined;
  let lives = 0;
  let bootingUntilMs = 0;
  let isQuiet = false;
  const replies: { key: string; sessionId: string }[] = [];
  const deathsAtMs: number[] = [];
  let maximum = { agents: MAX_AGENTS, sinceAt: 0 };

  async function boot(): Promise<void> {
    const life = ++lives;
    bootingUntilMs = time.monotonicMs() + BOOT_MAX_MS;
    const booted = await bootController(isQuiet ? { ...setting, deathRate: 0 } : setting, `life-${life}`);
    if (life === lives) controller = booted;
  }

  // The supervisor: sees a dead controller within a moment, or takes a frozen one for dead.
  function supervise(): void {
    if (controller?.isDead) controller = undefined;
    if (controller === undefined) {
      deathsAtMs.push(time.monotonicMs());
      if (time.monotonicMs() > bootingUntilMs) void boot();
    } else if (!isQuiet && random.chance(0.01)) {
      controller.freeze(random.between(5_000, 30_000));
      controller = undefined;
      deathsAtMs.push(time.monotonicMs());
      void boot();
    }
    time.at(time.monotonicMs() + random.between(200, 2_000), supervise);
  }

  function comeAndGo(): void {
    if (isQuiet) return;
    void call(random.id());
    void controller?.pend(AGENT).catch(() => undefined);
    if (random.chance(0.1)) host.strike();
    if (random.chance(0.05)) void changeMaximum();
    if (random.chance(0.03)) void redeploy(store, random, time.nowMs()).then(() => controller?.nudge());
    time.at(time.monotonicMs() + random.between(500, 8_000), comeAndGo);
  }

  async function changeMaximum(): Promise<void> {
    const maxAgents = 1 + Math.floor(random.next() * MAX_AGENTS);
    await store.db.updateTable("agents").set({ maxAgents }).execute();
    maximum = { agents: maxAgents, sinceAt: time.nowMs() };
    controller?.nudge();
  }

  // Clients repeat a start under the same key until they are answered, or lose interest.
  async function call(key: string): Promise<void> {
    for (let attempt = 0; attempt < 3; attempt++) {
      const gaveUp = time.sleep(random.between(500, 25_000));
      const answer = controller?.start(key, AGENT).then(
        ({ session }) => ({ sessionId: session.id }),
        () => undefined,
      );
      const started = await Promise.race([answer, gaveUp]);
      if (started) {
        replies.push({ key, ...started });
        if (random.chance(0.3)) await stopLater(started.sessionId);
        if (random.chance(0.8)) return; // otherwise the answer was lost on the way and the client asks again
      }
      await time.sleep(random.between(10, 2_000));
    }
  }

  async function stopLater(sessionId: string): Promise<void> {
    await time.sleep(random.between(0, 20_000));
    void controller?.stop(sessionId, AGENT).catch(() => undefined);
  }

  function watch(): void {
    void checkMeanwhile({
      host,
      store,
      maxAgents: Math.min(MAX_AGENTS, instances),
      maximum,
      pendingPerAgent: PENDING_PER_AGENT,
    });
    time.at(time.monotonicMs() + 1_500, watch);
  }

  void boot();
  supervise();
  comeAndGo();
  watch();
  await time.runUntil(BUSY_MS);
  isQuiet = true;
  controller?.kill();
  await time.runUntil(BUSY_MS + SETTLE_MS);
  await checkAtTheEnd({ host, store, replies, deathsAtMs });
  return { seed, faults: host.faults, sessions: host.truth.size, deaths: deathsAtMs.length };
}

async function seedAgent(store: Store, random: Random, nowMs: number): Promise<void> {
  await store.db
    .insertInto("organizations")
    .values({ id: ORGANIZATION, name: "org", verboseName: "Org", properties: "{}", createdAt: nowMs })
    .execute();
  const deploymentId = random.id();
  await store.db
    .insertInto("agents")
    .values({
      ...AGENT,
      region: "us-west",
      state: "live",
      minAgents: random.pick([0, 1, 2]),
      maxAgents: MAX_AGENTS,
      desiredDeploymentId: deploymentId,
      reconciledDeploymentId: deploymentId,
      version: 1,
      createdAt: nowMs,
      updatedAt: nowMs,
      deletedAt: null,
    })
    .execute();
  await insertDeployment(store, random, { id: deploymentId, phase: "Active", nowMs });
}

async function redeploy(store: Store, random: Random, nowMs: number): Promise<void> {
  const id = random.id();
  await store.db
    .updateTable("deployments")
    .set((is) => ({ phase: "Superseded", version: is("version", "+", 1) }))
    .where("phase", "in", ["Creating", "Validating"])
    .execute();
  await insertDeployment(store, random, { id, phase: "Creating", nowMs });
  await store.db.updateTable("agents").set({ desiredDeploymentId: id }).execute();
}

async function insertDeployment(
  store: Store,
  random: Random,
  { id, phase, nowMs }: { id: string; phase: "Active" | "Creating"; nowMs: number },
): Promise<void> {
  await store.db
    .insertInto("deployments")
    .values(
      newDeployment({
        id,
        organizationId: ORGANIZATION,
        agentId: AGENT.id,
        phase,
        spec: anySpec(random),
        nowMs,
      }),
    )
    .execute();
}
