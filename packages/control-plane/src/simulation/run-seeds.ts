// Runs seeds and says which fail: node run-seeds.ts <first> <count> [stop]
import { simulate } from "./simulate.ts";

const [first = 0, count = 100] = process.argv.slice(2, 4).map(Number);
const stopsAtFirst = process.argv[4] === "stop";
let [sessions, deaths, failed] = [0, 0, 0];
for (let seed = first; seed < first + count; seed++) {
  const result = await simulate(seed);
  sessions += result.sessions;
  deaths += result.deaths;
  if (result.faults.length === 0) continue;
  failed++;
  process.stdout.write(`seed ${seed}: ${[...new Set(result.faults)].slice(0, 4).join("; ")}\n`);
  if (stopsAtFirst) break;
}
process.stdout.write(`${count} seeds, ${sessions} sessions, ${deaths} deaths, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
