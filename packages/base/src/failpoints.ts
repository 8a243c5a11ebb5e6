import type { Settings } from "@vocalhost/protocol";
import { existsSync, readFileSync, rmSync } from "node:fs";

export const failpointSettings = {
  failpointFile: {
    name: "VOCALHOST_FAILPOINT_FILE",
    help: "file with the name of a moment of `failpoints.ts`; the controller kills itself there, once, for tests",
  },
} as const satisfies Settings;

/**
 * Points at which a crash of the controller must be harmless, each reached before and after its effect. The exit
 * record has its failpoint in the instance.
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

/** Called at each failpoint; kills the process there only if a test asks for it. */
export type Failpoint = (name: FailpointName) => void;

/**
 * Kills the process, as a power loss would, at the failpoint that the file `triggerFile` names. The file is removed
 * first, so that the restarted process does not die there again.
 */
export function createFailpoint(triggerFile: string | undefined): Failpoint {
  if (triggerFile === undefined) return () => undefined;
  return (name) => {
    if (!existsSync(triggerFile) || readFileSync(triggerFile, "utf8").trim() !== name) return;
    rmSync(triggerFile);
    process.kill(process.pid, "SIGKILL");
  };
}
