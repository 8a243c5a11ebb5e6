import type { DeploymentRow } from "@vocalhost/store/schema";
import type { PoolStep, PoolView } from "./plan-pool.ts";

/** How the deployments of an agent move on: the new one proves itself before the old one goes. */
export function planRollout(view: PoolView): PoolStep[] {
  return view.deployments.flatMap((deployment) => planDeployment(deployment, view));
}

function planDeployment(deployment: DeploymentRow, view: PoolView): PoolStep[] {
  const own = view.instances.filter(({ deploymentId }) => deploymentId === deployment.id);
  switch (deployment.phase) {
    case "Creating":
      return view.agent.state === "live" ? [{ do: "prepare-deployment", deployment }] : [];
    case "Validating":
      if (deployment.failureCode !== null) return [failed(deployment)];
      if (deployment.crashes >= view.timing.crashesToFail) return [failed(deployment)];
      return own.some(({ state }) => state === "ready") ? [{ do: "activate-deployment", deployment }] : [];
    case "Draining":
      return own.length === 0 ? [{ do: "retire-deployment", deployment }] : [];
    case "Active":
    case "Retired":
    case "Failed":
    case "Superseded":
      return [];
    default:
      return deployment.phase satisfies never;
  }
}

function failed(deployment: DeploymentRow): PoolStep {
  const { crashes, crashText, failureCode, failureText } = deployment;
  if (failureCode !== null)
    return { do: "fail-deployment", deployment, code: failureCode, text: failureText ?? failureCode };
  return {
    do: "fail-deployment",
    deployment,
    code: "UNKNOWN_ERROR",
    text: `The bot crashed ${crashes} times before it was ready: ${reasonIn(crashText ?? "")}`,
  };
}

const REASON_MAX_CHARACTERS = 300;

/** The error itself, out of everything that was printed around it; otherwise how the process ended. */
function reasonIn(crashText: string): string {
  const [ending = "", ...output] = crashText.split("\n");
  const error = output.findLast((line) => /^(?:Uncaught )?\w*(?:Error|Exception)\b/.test(line));
  return (error ?? ending).trim().slice(0, REASON_MAX_CHARACTERS);
}
