import {
  DriverUnavailableError,
  type Driver,
  type InstanceSource,
  type PreparedSource,
} from "@vocalhost/drivers/driver";
import type { DeploymentRow } from "@vocalhost/store/schema";

/** Runs the drivers' preparation of deployments concurrently, because one may take minutes. */
export interface Preparing {
  /** Starts the preparation or returns its state. Throws the driver's error once. */
  prepare(
    deployment: Pick<DeploymentRow, "id" | "agentId"> & { region: string },
    source: () => Promise<InstanceSource>,
  ): Promise<{ done: PreparedSource } | { working: string }>;
}

export interface PreparingOptions {
  driver: Pick<Driver, "prepare">;
  /** Called when a preparation ended, failed or made progress. */
  changed(): void;
  /** @default the process's own */
  nowMs?: () => number;
}

type Wanted = Parameters<Preparing["prepare"]>[0];

interface Job {
  agentId: string;
  abort: AbortController;
  text: string;
  outcome?: { done: PreparedSource } | { error: unknown; atMs: number };
}

const AGAIN_MS = 5_000; // a restarting engine is back by then

export function createPreparing({
  driver,
  changed,
  nowMs = () => performance.now(),
}: PreparingOptions): Preparing {
  const jobs = new Map<string, Job>();

  function start({ id, agentId, region }: Wanted, source: () => Promise<InstanceSource>): Job {
    const job: Job = { agentId, abort: new AbortController(), text: "Preparing the image" };
    const work = async (): Promise<PreparedSource> => {
      const wanted = await source();
      if (!driver.prepare) throw new Error("This driver prepares nothing");
      return driver.prepare(wanted, {
        region,
        signal: job.abort.signal,
        progressed(text) {
          job.text = text;
          changed();
        },
      });
    };
    void work()
      .then(
        (done) => (job.outcome = { done }),
        (error: unknown) => (job.outcome = { error, atMs: nowMs() }),
      )
      .then(changed);
    jobs.set(id, job);
    return job;
  }

  // A newer deployment of the same agent has superseded the others.
  function endOthers(id: string, agentId: string): void {
    for (const [other, job] of jobs) {
      if (other === id || job.agentId !== agentId) continue;
      job.abort.abort();
      jobs.delete(other);
    }
  }

  return {
    async prepare(wanted, source) {
      const { id, agentId } = wanted;
      endOthers(id, agentId);
      const job = jobs.get(id) ?? start(wanted, source);
      if (!job.outcome) return { working: job.text };
      if ("done" in job.outcome) {
        jobs.delete(id);
        return job.outcome;
      }
      const { error, atMs } = job.outcome;
      const mayHelp = error instanceof DriverUnavailableError;
      if (!mayHelp || nowMs() - atMs >= AGAIN_MS) jobs.delete(id);
      if (mayHelp) return { working: `${error.message}. Trying again.` };
      throw error;
    },
  };
}
