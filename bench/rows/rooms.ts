import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { startLoad } from "../load/load-process.ts";
import { pause, printed, startChild } from "../machine/child.ts";
import { SERVER_CORE } from "../machine/cores.ts";
import { coresUsed, readUsage } from "../machine/usage.ts";
import type { Benchmark, Row } from "../report/row.ts";
import { figure, percentile } from "../report/statistics.ts";

// In a large room few speak at once; if all 50 did, every second would carry 122,500 packets.
const SIZES = [
  { participants: 2, speakers: 2 },
  { participants: 10, speakers: 10 },
  { participants: 50, speakers: 3 },
];
const WINDOW_MS = 10_000;
const SETTLE_MS = 3_000;

export const rooms: Benchmark = {
  name: "rooms",
  about: "what a room costs: CPU of forwarding, and latency it adds",
  async run() {
    const rows: Row[] = [];
    for (const size of SIZES) rows.push(...(await measure(size)));
    return rows;
  },
};

async function measure({ participants, speakers }: (typeof SIZES)[number]): Promise<Row[]> {
  const key = { apiKey: "bench", apiSecret: randomBytes(24).toString("hex") };
  await using server = startChild({
    file: "packages/rooms/src/main.ts",
    core: SERVER_CORE,
    environment: {
      VOCALHOST_ROOMS_API_KEY: key.apiKey,
      VOCALHOST_ROOMS_API_SECRET: key.apiSecret,
      VOCALHOST_ROOMS_LISTEN: "127.0.0.1:0",
      VOCALHOST_ROOMS_UDP_PORT: "0",
      VOCALHOST_ROOMS_LOG_LEVEL: "warn",
    },
  });
  const [, url = ""] = await printed(server, /Rooms at (ws:\/\/\S+),/);
  const processes = [server.pid, ...childrenOf(server.pid)];
  await using load = startLoad("room-load", { url, pauseMs: 0, listen: true, room: { ...key, speakers } });
  await load.add(participants);
  await pause(SETTLE_MS);
  await load.restart();
  const before = processes.map(readUsage);
  await pause(WINDOW_MS);
  const after = processes.map(readUsage);
  const report = await load.report();
  const cores = before.reduce((sum, usage, index) => sum + coresUsed(usage, after[index]!), 0);
  const perPacketUs = (cores * WINDOW_MS * 1000) / report.received;
  const who = `room of ${participants}, ${speakers === participants ? "all" : speakers} speaking`;
  const arrived = report.received / (speakers * (participants - 1) * (WINDOW_MS / 20));
  const lateMs = percentile(report.lateMs, 0.99);
  return [
    {
      what: `${who}: CPU of a participant`,
      measured: `${figure((cores * 60) / participants)} s a minute, ${figure(perPacketUs)} µs a forwarded packet`,
      note: `${figure(cores * 100)} % of a core in all, ${figure(arrived * 100)} % of the packets arrived`,
    },
    {
      what: `${who}: packet sent → packet received, p50 / p99`,
      measured: `${figure(percentile(report.gapsMs, 0.5))} / ${figure(percentile(report.gapsMs, 0.99))} ms`,
      note: `both ends in the load process, itself late by p99 ${figure(lateMs)} ms`,
    },
  ];
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
}
