import type { Load } from "../load/load-process.ts";
import { percentile } from "../report/statistics.ts";
import { canCapture, startCapture } from "./capture.ts";
import { pause, type Child } from "./child.ts";
import { coresUsed, readStolenMs, readUsage, threadShares } from "./usage.ts";

/** A stretch of time in which a runner and its callers were watched. */
export interface VoiceWindow {
  sessions: number;
  /** |gap - 20 ms| between packets of one session. */
  jitterP50Ms: number;
  jitterP99Ms: number;
  /** Packets the runner sent, of those it should have sent. */
  sentShare: number;
  /** Cores the runner used, and by thread. */
  cores: number;
  threads: [name: string, share: number][];
  /** Whether the callers themselves kept pace. */
  loadCores: number;
  loadLateP99Ms: number;
  /** Share of the time that the host took from this machine. */
  stolenShare: number;
  clock: "kernel" | "load process";
  /** The last Opus complexity the runner changed to, if it did. */
  changedComplexity: string | undefined;
}

const PACKET_MS = 20;

/** Packet timing is the kernel's where tcpdump may run, the load process's otherwise. */
export async function watchVoice(runner: Child, load: Load, windowMs: number): Promise<VoiceWindow> {
  const kernel = canCapture();
  await using capture = kernel ? await startCapture() : undefined;
  await load.restart();
  const stolenBefore = readStolenMs();
  const before = { runner: readUsage(runner.pid), load: readUsage(load.pid) };
  await pause(windowMs);
  const after = { runner: readUsage(runner.pid), load: readUsage(load.pid) };
  const report = await load.report();
  const gapsMs = capture ? gapsOf(await capture.packets(), new Set(report.serverSsrcs)) : report.gapsMs;
  if (gapsMs.length === 0) throw new Error("No packet of the runner was seen");
  const jitterMs = gapsMs.map((gap) => Math.abs(gap - PACKET_MS));
  const wallMs = after.runner.atMs - before.runner.atMs;
  return {
    sessions: report.sessions,
    jitterP50Ms: percentile(jitterMs, 0.5),
    jitterP99Ms: percentile(jitterMs, 0.99),
    sentShare: gapsMs.length / ((report.sessions * wallMs) / PACKET_MS),
    cores: coresUsed(before.runner, after.runner),
    threads: threadShares(before.runner, after.runner),
    loadCores: coresUsed(before.load, after.load),
    loadLateP99Ms: percentile(report.lateMs, 0.99),
    stolenShare: (readStolenMs() - stolenBefore) / wallMs,
    clock: kernel ? "kernel" : "load process",
    changedComplexity: changedComplexity(runner.output()),
  };
}

// Other programs of this machine may send voice packets too.
function gapsOf(packets: { atMs: number; ssrc: number }[], ssrcs: Set<number>): number[] {
  const lastMs = new Map<number, number>();
  const gaps: number[] = [];
  for (const { atMs, ssrc } of packets) {
    if (!ssrcs.has(ssrc)) continue;
    const before = lastMs.get(ssrc);
    if (before !== undefined) gaps.push(atMs - before);
    lastMs.set(ssrc, atMs);
  }
  return gaps;
}

/** A runner that is busy lets Opus work less, and says so. */
export function changedComplexity(output: string): string | undefined {
  return [...output.matchAll(/opus complexity changed complexity=(\d+)/g)].at(-1)?.[1];
}
