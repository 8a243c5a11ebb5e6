import { once } from "node:events";
import { WebSocket } from "ws";
import { offerPeer } from "../load/peer.ts";
import { startRunner, type RunnerChild } from "../machine/runner.ts";
import type { Benchmark, Row } from "../report/row.ts";
import { figure, percentile, ratio } from "../report/statistics.ts";

const WARM_UP = 30;
const RUNS = 300;
const P50_MS = 2;
const P99_MS = 10;

export const sessionStart: Benchmark = {
  name: "session-start",
  about: "from a client's request until `bot` is entered",
  async run() {
    await using runner = await startRunner({ bot: "bench/bots/says-when.ts" });
    const status = await repeat(() => timeOf(() => fetch(`${runner.url}/status`).then((got) => got.text())));
    const socket = await repeat(() => untilEntered(runner, openSocket));
    const webrtc = await repeat(() => untilEntered(runner, openWebRtc));
    return [
      startRow("`POST /start` and its WebSocket → `bot` entered", socket, status),
      startRow("WebRTC offer → `bot` entered", webrtc, status),
    ];
  },
};

function startRow(what: string, ms: number[], statusMs: number[]): Row {
  const [p50, p99] = [percentile(ms, 0.5), percentile(ms, 0.99)];
  const bare = percentile(statusMs, 0.5);
  return {
    what: `${what}, p50 / p99 of ${ms.length}`,
    target: `≤ ${P50_MS} / ${P99_MS} ms`,
    measured: `${figure(p50)} / ${figure(p99)} ms`,
    baseline: `GET /status ${figure(bare)} / ${figure(percentile(statusMs, 0.99))} ms (${ratio(p50, bare)})`,
    met: p50 <= P50_MS && p99 <= P99_MS,
  };
}

async function repeat(measure: () => Promise<number>): Promise<number[]> {
  const all: number[] = [];
  for (let count = 0; count < WARM_UP + RUNS; count += 1) {
    const ms = await measure();
    if (count >= WARM_UP) all.push(ms);
  }
  return all;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

type Open = (url: string, onRequest: () => void) => Promise<() => void>;

/** Both clocks count from the same origin: two processes of one machine agree to microseconds. */
async function untilEntered(runner: RunnerChild, open: Open): Promise<number> {
  const entered = once(runner.process, "message", { signal: AbortSignal.timeout(10_000) });
  let startMs = 0;
  const onRequest = (): void => {
    startMs = performance.timeOrigin + performance.now();
  };
  // A failure after the bot was entered concerns the client alone.
  const opened = open(runner.url, onRequest).catch(() => undefined);
  const [{ enteredMs }] = (await entered) as [{ enteredMs: number }];
  (await opened)?.();
  return enteredMs - startMs;
}

async function openSocket(url: string, onRequest: () => void): Promise<() => void> {
  onRequest();
  const response = await fetch(`${url}/start`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ transport: "websocket", body: { from: "bench" } }),
  });
  const { wsUrl } = (await response.json()) as { wsUrl: string };
  const socket = new WebSocket(wsUrl, { perMessageDeflate: false });
  return () => socket.terminate();
}

let peers = 0;

async function openWebRtc(url: string, onRequest: () => void): Promise<() => void> {
  const peer = await offerPeer({ url, ssrc: (peers += 1), onOffer: onRequest });
  return () => peer.close();
}
