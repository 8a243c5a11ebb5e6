import type { PodState } from "./pod-state.ts";

interface Boot {
  sinceMs: number;
  begunMs?: number;
  starvedMs: number;
}

/** A container that has not begun after this time gets a sentence that says so. */
const SLOW_MS = 10_000;

/**
 * Measures how long booting pods have waited for the cluster: until their container ran, and then, as they report
 * themselves, for the processor. The deadline of a boot does not count that time.
 */
export class BootWaits {
  readonly #boots = new Map<string, Boot>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Takes the state of a pod that is not over, and returns what it has waited for. */
  look(id: string, pod: PodState & { state: "running" }): { starvedMs?: number; waitsFor?: string } {
    const nowMs = this.#nowMs();
    const boot = this.#bootOf(id);
    if (pod.hasBegun) boot.begunMs ??= nowMs;
    // The cluster has said why it cannot start the pod, so waiting longer than for others would not help.
    if (pod.waitsFor !== undefined) return { waitsFor: pod.waitsFor };
    const waitedMs = (boot.begunMs ?? nowMs) - boot.sinceMs;
    const isSlow = boot.begunMs === undefined && waitedMs > SLOW_MS;
    return {
      starvedMs: Math.round(waitedMs + boot.starvedMs),
      ...(isSlow ? { waitsFor: "Its node has not started it yet." } : {}),
    };
  }

  /** Takes what a pod reports; a bot could report anything, so no more than the time that has passed is believed. */
  told(id: string, starvedMs: number): void {
    const boot = this.#bootOf(id);
    boot.begunMs ??= this.#nowMs();
    boot.starvedMs = Math.min(starvedMs, this.#nowMs() - boot.begunMs);
  }

  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#boots.keys()) if (!ids.has(id)) this.#boots.delete(id);
  }

  #bootOf(id: string): Boot {
    const known = this.#boots.get(id);
    if (known) return known;
    const boot = { sinceMs: this.#nowMs(), starvedMs: 0 };
    this.#boots.set(id, boot);
    return boot;
  }
}
