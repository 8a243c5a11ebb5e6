import type { Settings } from "@vocalhost/protocol";
import { existsSync, readFileSync, rmSync } from "node:fs";

export const failpointSettings = {
  failpointFile: {
    name: "VOCALHOST_FAILPOINT_FILE",
    help: "file with the name of a moment of `failpoints.ts`; the controller kills itself there, once, for tests",
  },
} as const satisfies Settings;

/**
 * Moments of the controller at which a crash must be harmless; each is passed before and after its effect. The exit
 * record is the instance's own moment.
 */
export const failpointNames = [
  "start.claimed",
  "instance.created",
  "bot.started",
  "active.committed",
  "active.replied",
  "stop.flagged",
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

/**
 * Kills the process, as power loss would, at the moment whose name is the text of the file `triggerFile`. The file is
 * removed first, so that the next life of the process does not die there as well.
 */
export function createFailpoint(triggerFile: string | undefined): Failpoint {
  if (triggerFile === undefined) return () => undefined;
  return (name) => {
    if (!existsSync(triggerFile) || readFileSync(triggerFile, "utf8").trim() !== name) return;
    rmSync(triggerFile);
    process.kill(process.pid, "SIGKILL");
  };
}
