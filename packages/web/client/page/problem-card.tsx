import { Icon } from "../../shared/icon.tsx";
import { problem, type Problem } from "../../shared/events/problem.ts";
import type { RunnerStatus } from "../runner/runner-status.ts";
import { useConnection } from "../connection/use-connection.ts";

/** What went wrong and what to do about it. */
export function ProblemCard({ runner }: { runner: RunnerStatus }) {
  const { phase, choices } = useConnection();
  const found = phase.name === "failed" ? phase.problem : problemOfRunner(runner, choices.length === 0);
  if (!found || phase.name === "connecting" || phase.name === "live") return null;
  const titled = phase.name === "failed"; // the heading above already says it
  return (
    <div
      role="alert"
      className="mx-auto mt-4 flex max-w-lg gap-3 rounded-2xl border border-danger/30 bg-danger-soft p-4 text-left"
    >
      <Icon name="warning" className="mt-0.5 size-5 text-danger" />
      <div className="min-w-0">
        {!titled && <p className="font-semibold">{found.title}</p>}
        {found.detail && <p className="font-medium break-words text-pretty">{found.detail}</p>}
        <p className="text-pretty">{found.advice}</p>
      </div>
    </div>
  );
}

function problemOfRunner(runner: RunnerStatus, noChoice: boolean): Problem | undefined {
  if (runner.kind === "unreachable") return problem("runner-unreachable");
  if (runner.kind === "ready" && noChoice) {
    return problem("transport-unknown", `Accepted: ${runner.transports.join(", ") || "nothing"}`);
  }
  return undefined;
}
