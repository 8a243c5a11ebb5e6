import type { AgentRecord, RevisionInfo } from "@vocalhost/protocol";
import { Problem } from "../problem.ts";
import { shortId } from "../service/find.ts";

/** Where a deployment stands, from one look at its agent. */
export type Rollout =
  | { type: "running"; phase: string; line: string }
  | { type: "done"; line: string }
  | { type: "failed"; problem: Problem };

export function readRollout(record: AgentRecord, deploymentId: string): Rollout {
  if (record.desiredDeploymentId !== deploymentId)
    return {
      type: "failed",
      problem: new Problem("superseded", `Deployment ${shortId(deploymentId)} was replaced by a newer one`, {
        why: `Someone deployed ${shortId(record.desiredDeploymentId)} in the meantime.`,
        fixes: [`vocalhost agent deployments ${record.name}`],
      }),
    };
  const revision = record.currentRevision ?? undefined;
  const [error] = record.errors ?? [];
  if (error || revision?.phase === "Failed") return { type: "failed", problem: failure(record, revision) };
  const isDone = record.ready && record.reconciledDeploymentId === deploymentId;
  if (isDone) return { type: "done", line: instancesOf(record, revision) };
  const phase = revision?.phase ?? "Creating";
  return { type: "running", phase, line: `${phase}: ${doing(record, revision)}` };
}

function doing(record: AgentRecord, revision: RevisionInfo | undefined): string {
  const health = revision?.health;
  if (health && health.restartCount > 0) {
    const reason = health.reason ?? health.lastTerminationReason ?? "Error";
    const code = health.lastExitCode === undefined ? "" : `, exit code ${health.lastExitCode}`;
    const said = errorLine(health.message);
    return `the bot crashed ${times(health.restartCount)} (${reason}${code}), it is being restarted${said && `: ${said}`}`;
  }
  if (revision?.phase === "Validating") return "the first instance is starting";
  if (revision?.phase === "Active") return instancesOf(record, revision);
  return "preparing image and secrets";
}

function failure(record: AgentRecord, revision: RevisionInfo | undefined): Problem {
  const [error] = record.errors ?? [];
  const crash = revision?.health?.message?.trim();
  const stays = record.previousRevision
    ? `Deployment ${shortId(record.previousRevision.deploymentID)} is still serving.`
    : "There is no earlier deployment, so the agent takes no sessions.";
  return new Problem(
    "deployment_failed",
    `Deployment ${shortId(record.desiredDeploymentId)} of '${record.name}' failed`,
    {
      why: [
        `${error?.code ?? "Failed"}: ${error?.message ?? "the service gave no reason"}`,
        ...(crash ? [crash] : []),
        stays,
      ].join("\n"),
      fixes: [
        `See what it printed: vocalhost logs ${record.name} --deployment ${record.desiredDeploymentId}`,
        "Check that it runs here: vocalhost dev",
      ],
    },
  );
}

function instancesOf(record: AgentRecord, revision: RevisionInfo | undefined): string {
  const ready = revision?.readyReplicas ?? 0;
  const { minReplicas } = record.autoScaling;
  if (minReplicas === 0) return ready === 0 ? "no instance until a call comes in" : `${ready} ready`;
  return `${Math.min(ready, minReplicas)} of ${minReplicas} reserved instances ready`;
}

/** The line of a crash that names the error. */
function errorLine(crash: string | undefined): string {
  const lines = (crash ?? "").split("\n").map((line) => line.trim());
  return (
    lines.find((line) => /^(?:\w*(?:Error|Exception)\b|Uncaught\b)/.test(line))?.slice(0, SHOWN_CHARACTERS) ??
    ""
  );
}

const SHOWN_CHARACTERS = 160;

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
