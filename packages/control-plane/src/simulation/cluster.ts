import { createQuotas, defaultQuotas } from "../identity/quotas/quotas.ts";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import type { Tx } from "@vocalhost/store/store";
import { defaultTiming, type Timing } from "@vocalhost/base/timing";
import { startCandidate, type SimulatedCandidate } from "./candidate.ts";
import { checkAtTheEnd } from "./check.ts";
import { checkClusterAtTheEnd, checkClusterMeanwhile, checkRegions, type Outage } from "./check-cluster.ts";
import {
  FRAIL_REGION,
  isTight,
  organizations,
  planAgents,
  tightOrganization,
  type ClusterAgent,
} from "./cluster-agents.ts";
import type { SimulatedController, SimulationSetting } from "./controller.ts";
import { createHost } from "./host.ts";
import { createRandom } from "./random.ts";
import { seedCluster } from "./seed-cluster.ts";
import type { SimulationResult } from "./simulate.ts";
import { createVirtualTime } from "./virtual-time.ts";

export interface ClusterSize {
  agents: number;
  instancesEach: number;
  nodes: number;
  startsPerSecond: number;
}

/** The outcome of one seed of a cluster. */
export interface ClusterResult extends SimulationResult {
  /** Leaders that died or stood still. */
  deaths: number;
  /** Nodes that went down with all that ran on them. */
  nodesLost: number;
  /** How often another controller began to lead. */
  takeovers: number;
  /** The most instances that ran at once. */
  instancesMax: number;
  passes: number;
}

const ONE_MACHINE = 200; // instances that one machine may have; more are a cluster's, which finds room
const CONTROLLERS = 3;
const BUSY_MS = 60_000;
const SETTLE_MS = 90_000;
const CHECK_MS = 2_500;
const WITHOUT_LEADER_MAX_MS = 5_000;

const timing: Timing = {
  ...defaultTiming,
  reconcileMs: 4_000,
  idleInstanceMs: 20_000,
  demandMs: 4_000,
  startColdMs: 30_000,
  crashBackoffMs: [0, 500, 1_000],
  crashesToFail: 100_000, // deployments do not fail here: starts must go on
};

/**
 * Many agents on many nodes, and three controllers of which one leads: leaders die, or stand still and come back when
 * another has long taken over, nodes go down with all that runs on them, and a region's driver does not answer for a while.
 */
export async function simulateCluster(seed: number, size: ClusterSize): Promise<ClusterResult> {
  const random = createRandom(seed);
  const time = createVirtualTime();
  await using store = await openMemoryStore();
  const host = createHost(time, random);
  const agents = planAgents(size);
  const tight = agents.filter(isTight).length * size.instancesEach;
  const quotasOf = createQuotas(
    { ...defaultQuotas, instances: size.agents * size.instancesEach },
    { [tightOrganization.name]: { instances: tight } },
  );
  await seedCluster({ store, host, random, nowMs: time.nowMs(), agents, organizations, quotasOf });
  let isQuiet = false;
  const down = new Set<string>();
  const outages: Outage[] = [];
  let [nodesLost, deaths, instancesMax, passes] = [0, 0, 0, 0];
  const replies: { key: string; sessionId: string }[] = [];
  const deathsAtMs: number[] = [];

  const setting: SimulationSetting = {
    ...{ time, random, host, store, timing, quotasOf },
    pendingLimits: { perKey: 5, perAgent: 5 },
    mediaPorts: undefined,
    deathRate: 0, // leaders die often enough by themselves below, and none would live to see the end of a long pass
    lateRate: 0.01,
    cores: size.agents * size.instancesEach <= ONE_MACHINE ? 16 : undefined,
    listMs: 1_500, // as long as an API server takes for so many
    passed: () => void passes++,
    down: () => down,
    async commits(tx, epoch) {
      if ((await newestEpoch(tx)) !== epoch) host.faults.push("I9: a controller wrote that leads no more");
    },
  };
  const candidates = Array.from({ length: CONTROLLERS }, () => newCandidate());

  function newCandidate(): SimulatedCandidate {
    const candidate = startCandidate(setting, {
      holder: random.id(),
      took() {
        const others = candidates.filter((other) => other !== candidate);
        if (others.some(({ leaseUntilMs }) => leaseUntilMs > time.monotonicMs() + 1))
          host.faults.push("I9: the lease was taken from a controller that had renewed it");
      },
    });
    return candidate;
  }

  const leader = (): SimulatedController | undefined =>
    candidates.find(({ life, deciding }) => deciding && !life.isDead && !life.isFrozen)?.deciding;

  // Each machine starts its controller again when it is dead.
  function supervise(): void {
    for (const [place, { life }] of candidates.entries())
      if (life.isDead && (isQuiet || random.chance(0.2))) candidates[place] = newCandidate();
    time.at(time.monotonicMs() + 1_000, supervise);
  }

  function harm(): void {
    if (isQuiet) return;
    const victim = candidates.find(({ life, deciding }) => deciding && !life.isDead);
    if (random.chance(0.5)) victim?.life.kill();
    else victim?.life.freeze(random.between(1_000, 20_000)); // too short to be noticed, or far too long
    if (victim) deaths++;
    deathsAtMs.push(time.monotonicMs());
    time.at(time.monotonicMs() + random.between(6_000, 15_000), harm);
  }

  function loseNode(): void {
    if (isQuiet) return;
    nodesLost++;
    host.strikeNode(Math.floor(random.next() * size.nodes), size.nodes);
    time.at(time.monotonicMs() + random.between(4_000, 12_000), loseNode);
  }

  function loseRegion(): void {
    if (isQuiet) return;
    const outage = { region: FRAIL_REGION, from: time.nowMs(), until: Infinity };
    outages.push(outage);
    down.add(outage.region);
    time.at(time.monotonicMs() + random.between(2_000, 12_000), () => {
      down.delete(outage.region);
      outage.until = time.nowMs();
      time.at(time.monotonicMs() + random.between(4_000, 12_000), loseRegion);
    });
  }

  function comeAndGo(): void {
    if (isQuiet) return;
    void call(random.id(), random.pick(agents));
    if (random.chance(0.05)) host.strike();
    time.at(time.monotonicMs() + random.between(0, 2_000 / size.startsPerSecond), comeAndGo);
  }

  async function call(key: string, agent: ClusterAgent): Promise<void> {
    const preference = { asked: agent.region, stays: random.chance(0.3) };
    for (let attempt = 0; attempt < 4; attempt++) {
      const answer = leader()
        ?.start(key, agent, preference)
        .then(
          ({ session }) => session.id,
          () => undefined,
        );
      const sessionId = await Promise.race([answer, time.sleep(random.between(5_000, 25_000))]);
      if (sessionId) {
        replies.push({ key, sessionId });
        if (random.chance(0.2)) {
          await time.sleep(random.between(0, 20_000));
          void leader()
            ?.stop(sessionId, agent)
            .catch(() => undefined);
        }
        if (random.chance(0.9)) return; // otherwise the answer was lost on the way and the client asks again
      }
      await time.sleep(random.between(500, 4_000));
    }
  }

  function watch(): void {
    instancesMax = Math.max(instancesMax, host.running().length);
    void checkClusterMeanwhile({ host, store, agents, quotasOf, organizations });
    time.at(time.monotonicMs() + CHECK_MS, watch);
  }

  /** A controller leads again within five seconds, as long as one is alive. */
  function watchLeader(sinceMs: number): void {
    const nowMs = time.monotonicMs();
    const isWell = leader() !== undefined || candidates.every(({ life }) => life.isDead || life.isFrozen);
    const isLate = !isWell && nowMs - sinceMs > WITHOUT_LEADER_MAX_MS;
    if (isLate) host.faults.push("I9: no controller has led for more than five seconds");
    if (!leader()) deathsAtMs.push(nowMs);
    time.at(nowMs + 250, () => watchLeader(isWell || isLate ? nowMs : sinceMs));
  }

  time.at(5_000, harm);
  time.at(8_000, loseNode);
  time.at(10_000, loseRegion);
  comeAndGo();
  watch();
  supervise();
  watchLeader(0);
  await time.runUntil(BUSY_MS);
  isQuiet = true;
  await time.runUntil(BUSY_MS + SETTLE_MS);
  await checkAtTheEnd({ host, store, replies, deathsAtMs });
  await checkRegions({ host, store, outages });
  await checkClusterAtTheEnd({ host, store, agents: agents.filter((agent) => !isTight(agent)) });
  const { faults } = host;
  return {
    ...{ seed, faults, deaths, nodesLost, instancesMax, passes },
    sessions: host.truth.size,
    takeovers: host.newestEpoch() - 1,
  };
}

async function newestEpoch(tx: Tx): Promise<number | undefined> {
  const row = await tx.selectFrom("leader").select("epoch").where("id", "=", 1).executeTakeFirst();
  return row?.epoch;
}
