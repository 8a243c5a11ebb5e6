import { useQuery } from "@tanstack/react-query";
import type { DeploymentListItem } from "@vocalhost/protocol";
import { Icon } from "../../shared/icon.tsx";
import { queries } from "../data/queries.ts";
import { useAgentRegion } from "./agent-name.ts";
import { Card } from "../ui/card.tsx";
import { Alert } from "../ui/notice.tsx";
import { toLength, useNow } from "../ui/time.tsx";

const steps = [
  { phase: "Creating", label: "Prepared" },
  { phase: "Validating", label: "First instance started" },
  { phase: "Active", label: "Serving new sessions" },
] as const;

const LOOK_MS = 1_000; // events tell sooner, mostly

/** Follows one deployment until it serves, failed, or a newer one came. */
export function RolloutCard({ name, deploymentId }: { name: string; deploymentId: string }) {
  const { data } = useQuery({
    ...queries.deployments(name, useAgentRegion()),
    refetchInterval: (query) =>
      isOver(query.state.data?.deployments.find(({ id }) => id === deploymentId)) ? false : LOOK_MS,
  });
  const nowMs = useNow(1_000);
  const deployment = data?.deployments.find(({ id }) => id === deploymentId);
  if (!deployment) return null;
  const { phase } = deployment;
  if (phase === "Failed")
    return (
      <Alert title="The rollout failed; the previous deployment still serves">
        {deployment.failure?.message ?? "See the logs for what the bot printed."}
      </Alert>
    );
  if (phase === "Superseded")
    return <Alert tone="busy" title="A newer deployment replaced this one before it served" />;
  const reached = phase === "Creating" ? 0 : phase === "Validating" ? 1 : 3;
  return (
    <Card title={reached === 3 ? "Rolled out" : "Rolling out"}>
      <p role="status" className="sr-only">
        {reached === 3 ? "Serving new sessions" : "Rolling out"}
      </p>
      <ol className="flex flex-wrap items-center gap-x-6 gap-y-2 text-sm">
        {steps.map(({ label }, index) => (
          <li key={label} className={`flex items-center gap-2 ${index < reached ? "" : "text-muted"}`}>
            <Mark state={index < reached ? "done" : index === reached ? "now" : "later"} />
            {label}
          </li>
        ))}
        {reached < 3 && (
          <li className="ml-auto text-muted tabular-nums">
            {toLength(Math.max(0, (nowMs - Date.parse(deployment.createdAt)) / 1000))}
          </li>
        )}
      </ol>
    </Card>
  );
}

function Mark({ state }: { state: "done" | "now" | "later" }) {
  if (state === "done")
    return (
      <span className="grid size-5 place-items-center rounded-full bg-accent text-on-accent">
        <Icon name="check" className="size-3.5" />
      </span>
    );
  return (
    <span
      className={`size-5 rounded-full border-2 ${state === "now" ? "animate-pulse border-accent" : "border-line"}`}
    />
  );
}

function isOver(deployment: DeploymentListItem | undefined): boolean {
  return deployment !== undefined && deployment.phase !== "Creating" && deployment.phase !== "Validating";
}
