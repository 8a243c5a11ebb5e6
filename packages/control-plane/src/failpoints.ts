/** Moments at which a crash must be harmless; each is passed before and after its effect. */
export const failpointNames = [
  "start.claimed",
  "instance.created",
  "bot.started",
  "active.committed",
  "active.replied",
  "stop.flagged",
  "exit.recorded",
  "close.committed",
  "instance.recycled",
  "deploy.inserted",
  "deploy.validated",
  "deploy.flipped",
  "secrets.stored",
  "secrets.flipped",
  "key.revoked",
  "export.sent",
  "period.closed",
] as const;

export type FailpointName = `${(typeof failpointNames)[number]}.${"before" | "after"}`;

/** Called at every such moment; does nothing unless a test wants the process dead there. */
export type Failpoint = (name: FailpointName) => void;

/** Kills the process, as power loss would, when `wanted` is reached. */
export function createFailpoint(wanted: string | undefined): Failpoint {
  if (wanted === undefined) return () => undefined;
  return (name) => {
    if (name === wanted) process.kill(process.pid, "SIGKILL");
  };
}
