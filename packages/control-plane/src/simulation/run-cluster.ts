// Runs clusters and says which fail: node run-cluster.ts <first> <count> <agents> <instances of each> [stop]
import { simulateCluster } from "./cluster.ts";

const [first = 0, count = 1, agents = 20, instancesEach = 10] = process.argv.slice(2, 6).map(Number);
const stopsAtFirst = process.argv[6] === "stop";
const INSTANCES_ON_A_NODE = 50;
const instances = agents * instancesEach;
let failed = 0;
for (let seed = first; seed < first + count; seed++) {
  const { faults, ...figures } = await simulateCluster(seed, {
    agents,
    instancesEach,
    nodes: Math.max(4, Math.round(instances / INSTANCES_ON_A_NODE)),
    startsPerSecond: instances / 200,
  });
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  if (faults.length === 0) continue;
  failed++;
  process.stdout.write(`seed ${seed}: ${[...new Set(faults)].slice(0, 4).join("; ")}\n`);
  if (stopsAtFirst) break;
}
process.stdout.write(`${count} clusters, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
