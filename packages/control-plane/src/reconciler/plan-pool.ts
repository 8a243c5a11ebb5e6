import type { InstanceReport } from "../pools/instances/instance-network.ts";
import type { SeenInstance } from "@vocalhost/drivers/driver";
import type { AgentRow, DeploymentRow, InstanceRow } from "@vocalhost/store/schema";
import type { Timing } from "@vocalhost/base/timing";
import { planInstance } from "./plan-instance.ts";
import type { PendingSessions, PoolSession } from "./read-pools.ts";
import { planRest } from "./plan-rest.ts";
import { planRollout } from "./plan-rollout.ts";
import { planPending, planSession } from "./plan-session.ts";
import { planSize } from "./plan-size.ts";

/** One agent as it is: rows first, then what was seen of the world after they were read. */
export interface PoolView {
  agent: AgentRow;
  /** All that are not Retired, Failed or Superseded, plus those that still have instances. */
  deployments: DeploymentRow[];
  /** All that are not stopped or lost. */
  instances: InstanceRow[];
  /** All that hold an instance, plus those an instance above still names. */
  sessions: PoolSession[];
  pending: PendingSessions;
  /** How many instances the organisation may have besides those it has; less than none when its quota was lowered. */
  organizationLeft: number;
  /** How many sessions were bound lately. */
  recentStarts: number;
  seen: ReadonlyMap<string, SeenInstance>;
  reports: ReadonlyMap<string, InstanceReport>;
  /** Those the driver is making at this moment, for us; it may take its time. */
  beingMade: ReadonlySet<string>;
  /** Heartbeats in a row that instances have missed; those that miss none are left out. */
  missed: ReadonlyMap<string, number>;
  /** How long each open session has been asked to stop, on our monotonic clock. */
  stoppingForMs: ReadonlyMap<string, number>;
  /** The same of instances and sessions that are on their way up. */
  startingForMs: ReadonlyMap<string, number>;
  /** How long sessions have lasted at least, as we saw it. */
  lastedMs: ReadonlyMap<string, number>;
  nowMs: number;
  epoch: number;
  timing: Timing;
  /** How many instances may be on their way up at once. */
  bootsAtOnce: number;
  /** So many waiting instances go on running, those beyond are paused; undefined: all go on running. */
  keptAwake: number | undefined;
}

export type PoolStep =
  | { do: "request-instance"; deploymentId: string }
  | { do: "launch"; instance: InstanceRow }
  | { do: "mark-ready"; instance: InstanceRow; address: string }
  | { do: "drain"; instance: InstanceRow; cause: string; crash?: Crash }
  | { do: "destroy"; instance: InstanceRow; graceMs: number }
  | { do: "mark-gone"; instance: InstanceRow; cause: string; crash?: Crash }
  | { do: "release"; instance: InstanceRow }
  | { do: "pause"; instance: InstanceRow }
  | { do: "wake"; instance: InstanceRow }
  | { do: "prepare-deployment"; deployment: DeploymentRow }
  | { do: "activate-deployment"; deployment: DeploymentRow }
  | { do: "fail-deployment"; deployment: DeploymentRow; code: string; text: string }
  | { do: "retire-deployment"; deployment: DeploymentRow }
  | { do: "expire-pending"; createdBefore: number | undefined }
  | { do: "fail-session"; session: PoolSession; reason: string }
  | { do: "request-stop"; session: PoolSession; reason: string }
  | { do: "send-stop"; session: PoolSession; address: string; reason: "stopped" | "deadline" }
  | { do: "close-session"; session: PoolSession }
  | { do: "delete-agent"; agent: AgentRow };

export interface Crash {
  exitCode: number | null;
  text: string;
  /** No fault of the deployment: on record, but not counted against it. */
  isForeign?: boolean;
}

/** What to do next about one agent. Pure: the same view gives the same steps. */
export function planPool(view: PoolView): PoolStep[] {
  return [
    ...planPending(view),
    ...view.sessions.flatMap((session) => planSession(session, view)),
    ...view.instances.flatMap((instance) => planInstance(instance, view)),
    ...planRest(view),
    ...planRollout(view),
    ...planSize(view),
    ...planDeletion(view),
  ];
}

/** Plans for an agent whose instances cannot be listed: uses only the rows and what the instances report themselves. */
export function planUnseen(view: PoolView): PoolStep[] {
  const running = view.instances.map(({ id, address }): [string, SeenInstance] => [
    id,
    { id, state: "running", address: address ?? undefined, exit: undefined },
  ]);
  const assumed = { ...view, seen: new Map(running) };
  const hasTold = ({ id, instanceId }: PoolSession): boolean => {
    const told = view.reports.get(instanceId ?? "")?.status.session;
    return told?.sessionId === id && told.exit !== null;
  };
  return [
    ...planPending(view),
    ...view.sessions
      .flatMap((session) => planSession(session, assumed))
      .filter((step) => step.do !== "destroy" && (step.do !== "close-session" || hasTold(step.session))),
  ];
}

function planDeletion({ agent, sessions, pending, instances }: PoolView): PoolStep[] {
  const isEmpty = sessions.length === 0 && pending.count === 0 && instances.length === 0;
  const isOver = agent.state === "deleting" && isEmpty;
  return isOver ? [{ do: "delete-agent", agent }] : [];
}
