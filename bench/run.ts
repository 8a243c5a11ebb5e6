// npm run bench [names…] [--json] [--update]
// `--update` writes the figures into bench/README.md
import { calls } from "./calls.ts";
import { blocked } from "./rows/blocked.ts";
import { capacity } from "./rows/capacity.ts";
import { conversation } from "./rows/conversation.ts";
import { filteredSessions } from "./rows/filtered-sessions.ts";
import { firstAudio } from "./rows/first-audio.ts";
import { latency } from "./rows/latency.ts";
import { roomBots } from "./rows/room-bots.ts";
import { rooms } from "./rows/rooms.ts";
import { sessionStart } from "./rows/session-start.ts";
import { sessions } from "./rows/sessions.ts";
import { startup } from "./rows/startup.ts";
import { turns, turnsOfPeople } from "./rows/turns.ts";
import { viva } from "./rows/viva.ts";
import { coldPods } from "./hosted/cold-pods.ts";
import { containerBuilds } from "./hosted/container-builds.ts";
import { containerCrowd, containers } from "./hosted/containers.ts";
import { failOver } from "./hosted/fail-over.ts";
import { history } from "./hosted/history.ts";
import { hosted } from "./hosted/hosted.ts";
import { liveSessions } from "./hosted/live-sessions.ts";
import { kwok, pods } from "./hosted/pods.ts";
import { postgres } from "./hosted/postgres.ts";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describeMachine, nameMachine } from "./machine/describe.ts";
import type { Benchmark, Row } from "./report/row.ts";
import { formatTable } from "./report/table.ts";
import { listMachine, updatePage } from "./report/update-page.ts";

const ALL: Benchmark[] = [
  startup,
  sessionStart,
  firstAudio,
  latency,
  conversation,
  turns,
  turnsOfPeople,
  sessions,
  blocked,
  calls,
  capacity,
  viva,
  filteredSessions,
  rooms,
  roomBots,
  hosted,
  containers,
  containerCrowd,
  containerBuilds,
  history,
  postgres,
  failOver,
  liveSessions,
  pods,
];
/** Only when asked for by name: it needs what is not on this machine. */
const ASKED_FOR: Benchmark[] = [kwok, coldPods];

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith("--"));
const KNOWN = [...ALL, ...ASKED_FOR];
const unknown = names.filter((name) => !KNOWN.some((benchmark) => benchmark.name === name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(", ")}. There are:`);
  for (const { name, about } of KNOWN) console.error(`  ${name.padEnd(14)} ${about}`);
  process.exit(2);
}
process.on("SIGINT", () => process.exit(1)); // our processes end with us

const rows: Row[] = [];
let failures = 0;
for (const benchmark of names.length === 0 ? ALL : KNOWN.filter(({ name }) => names.includes(name))) {
  console.error(`${benchmark.name}: ${benchmark.about} …`);
  const told: Row[] = [];
  try {
    const tell = (row: Row): void => {
      told.push(row);
      console.error(`  ${row.what}: ${row.measured}; ${row.note ?? ""}`);
    };
    const measured = await benchmark.run(tell);
    rows.push(...measured);
    if (words.includes("--update")) writeToPage(benchmark.name, measured);
  } catch (error) {
    failures += 1;
    rows.push(...told);
    console.error(error);
  }
}
const machine = describeMachine();
if (words.includes("--json")) console.log(JSON.stringify({ machine, rows }, undefined, 2));
else console.log(`\n${machine}\n\n${formatTable(rows)}`);
process.exit(failures > 0 ? 1 : 0);

/** At once, so that figures are kept if a later benchmark cannot be measured. */
function writeToPage(name: string, measured: Row[]): void {
  const file = fileURLToPath(new URL("README.md", import.meta.url));
  const { page, letter } = listMachine(readFileSync(file, "utf8"), nameMachine());
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(file, updatePage(page, { benchmark: name, rows: measured, date, machine: letter }));
  spawnSync("npx", ["oxfmt", file], { stdio: "inherit" });
}
