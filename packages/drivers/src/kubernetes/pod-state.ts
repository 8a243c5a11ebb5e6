import { TerminationMessage } from "@vocalhost/protocol";
import type { V1ContainerStateTerminated, V1Pod, V1PodCondition } from "@kubernetes/client-node";
import { constants } from "node:os";
import type { InstanceExit } from "../driver.ts";

/** A pod's status in the words of this service. */
export type PodState =
  | { state: "running"; ip: string | undefined; waitsFor: string | undefined; hasBegun: boolean }
  | {
      state: "exited";
      exit: Omit<InstanceExit, "lastOutput">;
      terminationMessage: TerminationMessage;
      hasBegun: boolean;
    };

const SIGNALLED = 128;
const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));
const IMAGE_REASONS =
  /^(?:ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull|ImageInspectError|RegistryUnavailable|SignatureValidationFailed)$/;
const START_REASONS =
  /^(?:CreateContainerConfigError|CreateContainerError|RunContainerError|PreCreateHookError)$/;
// The node is overloaded: it has made no container yet, and tries again by itself.
const PASSING = /failed to sync \w+ cache|deadline ?exceeded|failed to reserve (?:container|sandbox) name/i;
const TRIES_AGAIN = /^CreateContainer(?:Config)?Error$/;

/** Pure. A pod runs unless it is over or can never start, also before it has a node. */
export function readPodState(pod: V1Pod): PodState {
  const { status, metadata, spec } = pod;
  const container = status?.containerStatuses?.[0];
  const terminated = container?.state?.terminated;
  const hasBegun = Boolean(container?.state?.running ?? terminated?.startedAt);
  if (terminated) return over(endOf(terminated, pod), { terminated, hasBegun });
  if (status?.phase === "Failed" || status?.phase === "Succeeded")
    return over(foreign(howDisrupted(pod) ?? howRefused(pod)), { hasBegun });
  if (metadata?.deletionTimestamp !== undefined && spec?.nodeName === undefined)
    return over({}, { hasBegun });
  // The cluster does not wait for its node: without the finalizer the object would be gone.
  if (metadata?.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0)
    return over(foreign(howDisrupted(pod) ?? "Its node was lost."), { hasBegun });
  const { reason = "", message = "" } = container?.state?.waiting ?? {};
  if (IMAGE_REASONS.test(reason)) return over({ how: howNotPulled(reason, message) }, { hasBegun });
  const isPassing = TRIES_AGAIN.test(reason) && PASSING.test(message);
  if (START_REASONS.test(reason) && !isPassing)
    return over({ how: `It could not be started: ${message || reason}` }, { hasBegun });
  const waitsFor = isPassing ? sentence("Its node could not start it yet", message) : noRoom(pod);
  return { state: "running", ip: status?.podIP, waitsFor, hasBegun };
}

/** Tells whether the cluster has lost the node of a container that was last reported running. */
export function isOnLostNode({ status }: V1Pod): boolean {
  const isReady = (status?.conditions ?? []).find(({ type }) => type === "Ready")?.status;
  return isReady === "False" && status?.containerStatuses?.[0]?.ready === true;
}

function over(
  exit: Partial<InstanceExit>,
  { terminated, hasBegun }: { terminated?: V1ContainerStateTerminated; hasBegun: boolean },
): PodState {
  return {
    state: "exited",
    exit: { code: null, signal: null, outOfMemory: false, ...exit },
    terminationMessage: parseTerminationMessage(terminated?.message),
    hasBegun,
  };
}

function endOf(terminated: V1ContainerStateTerminated, pod: V1Pod): Partial<InstanceExit> {
  const { exitCode, reason, message } = terminated;
  if (reason === "OOMKilled") return { signal: "SIGKILL", outOfMemory: true };
  const disrupted = howDisrupted(pod);
  if (reason === "ContainerStatusUnknown")
    return foreign(disrupted ?? "Its node was lost, or lost track of it.");
  const signal = signalNames.get(exitCode - SIGNALLED);
  const end = signal === undefined ? { code: exitCode } : { signal };
  if (disrupted !== undefined) return { ...end, ...foreign(disrupted) };
  if (reason === "StartError" || reason === "ContainerCannotRun")
    return { ...end, how: `It could not be started: ${firstLine(message ?? reason)}` };
  return end;
}

function foreign(how: string): Partial<InstanceExit> {
  return { how, isForeign: true };
}

const DISRUPTIONS: Record<string, string> = {
  EvictionByEvictionAPI: "It was evicted: its node is being emptied",
  PreemptionByScheduler: "It had to make room for a pod of higher priority",
  DeletionByTaintManager: "It was evicted: its node was lost, or no longer takes it",
  TerminationByKubelet: "It was evicted by its node",
  DeletionByPodGC: "Its node was lost",
};

function howDisrupted({ status }: V1Pod): string | undefined {
  const isTrue = ({ status: is }: V1PodCondition): boolean => is === "True";
  const disruption = status?.conditions?.find((each) => each.type === "DisruptionTarget" && isTrue(each));
  const known = DISRUPTIONS[disruption?.reason ?? ""];
  if (known !== undefined) return sentence(known, disruption?.message);
  if (status?.reason === "Evicted") return sentence("It was evicted by its node", status.message);
  if (status?.reason === "NodeLost") return "Its node was lost.";
  return undefined;
}

/** A kubelet may refuse a pod that the scheduler has sent it. */
function howRefused({ status }: V1Pod): string {
  return sentence(`Its node ended it (${status?.reason ?? status?.phase ?? "unknown"})`, status?.message);
}

const PULL_FAILURES: [RegExp, string][] = [
  [/not found|manifest unknown|no such image|does not exist/i, "it is not in its registry"],
  [
    /401|403|unauthorized|authentication required|no basic auth|denied/i,
    "the registry wants other credentials",
  ],
  [/toomanyrequests|rate limit|\b429\b/i, "the registry allows no more pulls for now"],
  [
    /connection refused|no such host|i\/o timeout|tls|x509|unreachable|deadline exceeded/i,
    "its registry cannot be reached",
  ],
  [/no space left/i, "the node's disk is full"],
];

function howNotPulled(reason: string, message: string): string {
  const why = PULL_FAILURES.find(([pattern]) => pattern.test(message))?.[1];
  return sentence(`Its image could not be pulled${why === undefined ? ` (${reason})` : `: ${why}`}`, message);
}

function noRoom({ status }: V1Pod): string | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status !== "False" || scheduled.reason !== "Unschedulable") return undefined;
  return sentence("There is no room for it in the cluster", scheduled.message);
}

function sentence(text: string, detail: string | undefined): string {
  return detail ? `${text}. The cluster says: ${firstLine(detail)}` : `${text}.`;
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0]?.slice(0, 500) ?? "";
}

/** A bot can write there too, so an invalid text counts as none. */
function parseTerminationMessage(text: string | undefined): TerminationMessage {
  try {
    return TerminationMessage.parse(JSON.parse(text ?? "{}"));
  } catch {
    return {};
  }
}
