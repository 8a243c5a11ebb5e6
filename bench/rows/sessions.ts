import { startLoad, type LoadKind } from "../load/load-process.ts";
import { pause } from "../machine/child.ts";
import { BARE_SOCKETS, ECHO_BOT, startRunner } from "../machine/runner.ts";
import { changedComplexity } from "../machine/voice-window.ts";
import { coresUsed, readMemory, readUsage, type Memory } from "../machine/usage.ts";
import type { Benchmark, Row } from "../report/row.ts";
import { figure, ratio } from "../report/statistics.ts";

const SIZES = [1, 5, 10, 25];
const MEMORY_FROM = 5;
const WINDOW_MS = 10_000;
const SETTLE_MS = 3_000;
const SOCKET_TARGET_SHARE = 0.003;
const IDLE_TARGET_MB = 60;

export const sessions: Benchmark = {
  name: "sessions",
  about: "CPU and memory of running sessions, by transport and number",
  async run() {
    const webrtc = await grow({ load: "peer-load", bot: ECHO_BOT });
    const sockets = await grow({ load: "socket-load", bot: ECHO_BOT });
    const bare = await grow({ load: "socket-load", bot: BARE_SOCKETS });
    return [
      {
        what: "idle runner, memory",
        target: `≤ ${IDLE_TARGET_MB} MB PSS`,
        measured: `${figure(webrtc.idle.pssMb)} MB PSS, ${figure(webrtc.idle.rssMb)} MB RSS`,
        met: webrtc.idle.pssMb <= IDLE_TARGET_MB,
      },
      ...cpuRows("WebRTC echo", webrtc),
      memoryRow("WebRTC echo", webrtc),
      ...cpuRows("/ws-client echo", sockets, { bare, targetShare: SOCKET_TARGET_SHARE }),
      memoryRow("/ws-client echo", sockets),
    ];
  },
};

interface Growth {
  idle: Memory;
  points: { sessions: number; cores: number; memory: Memory; complexity: string | undefined }[];
}

async function grow(options: { load: LoadKind; bot: string }): Promise<Growth> {
  await using runner = await startRunner({ bot: options.bot });
  await pause(SETTLE_MS);
  const idle = readMemory(runner.pid);
  await using load = startLoad(options.load, { url: runner.url, pauseMs: 0, listen: false });
  const points: Growth["points"] = [];
  let open = 0;
  for (const size of SIZES) {
    await load.add(size - open);
    open = size;
    await pause(SETTLE_MS);
    const before = readUsage(runner.pid);
    await pause(WINDOW_MS);
    const cores = coresUsed(before, readUsage(runner.pid));
    const complexity = changedComplexity(runner.output());
    points.push({ sessions: size, cores, memory: readMemory(runner.pid), complexity });
  }
  return { points, idle };
}

function cpuRows(name: string, growth: Growth, against?: { bare: Growth; targetShare: number }): Row[] {
  return growth.points
    .filter(({ sessions }) => sessions !== MEMORY_FROM)
    .map(({ sessions, cores, complexity }): Row => {
      const share = cores / sessions;
      const bareCores = against?.bare.points.find((point) => point.sessions === sessions)?.cores;
      const isJudged = against !== undefined && sessions === SIZES.at(-1);
      return {
        what: `${name}, CPU of a session among ${sessions}`,
        ...(isJudged ? { target: `≤ ${against.targetShare * 100} % of a core` } : {}),
        measured: `${figure(share * 60)} s/min, ${figure(share * 100)} % of a core`,
        ...(bareCores
          ? {
              baseline: `bare sockets ${figure((bareCores / sessions) * 100)} % (${ratio(cores, bareCores)})`,
            }
          : {}),
        ...(complexity ? { note: `Opus at complexity ${complexity} by then` } : {}),
        ...(isJudged ? { met: share <= against.targetShare } : {}),
      };
    });
}

function memoryRow(name: string, { points }: Growth): Row {
  const few = points.find(({ sessions }) => sessions === MEMORY_FROM) ?? points[0]!;
  const many = points.at(-1)!;
  const slope = (many.memory.rssMb - few.memory.rssMb) / (many.sessions - few.sessions);
  return {
    what: `${name}, memory of one more session`,
    measured: `${figure(slope)} MB RSS`,
    baseline: `${figure(few.memory.rssMb)} MB with ${few.sessions}, ${figure(many.memory.rssMb)} MB with ${many.sessions}`,
  };
}
