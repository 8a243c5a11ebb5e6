import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { DeploymentListItem } from "@vocalhost/protocol";
import { useState } from "react";
import { Button } from "../../shared/button.tsx";
import { SelectField } from "../../shared/select-field.tsx";
import { useAgentName, useAgentRegion } from "../agents/agent-name.ts";
import { toSource } from "../agents/agent-words.ts";
import { RolloutCard } from "../agents/rollout-card.tsx";
import { api } from "../data/api.ts";
import { useMayChange } from "../data/me.ts";
import { queries } from "../data/queries.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Card } from "../ui/card.tsx";
import { toShortId } from "../ui/copy-text.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { Ago, toDateTime } from "../ui/time.tsx";
import { changesBetween } from "./deployment-changes.ts";

const phases: Record<DeploymentListItem["phase"], { word: string; tone: Tone }> = {
  Creating: { word: "Preparing", tone: "busy" },
  Validating: { word: "Starting", tone: "busy" },
  Active: { word: "Serving", tone: "good" },
  Draining: { word: "Finishing its sessions", tone: "plain" },
  Retired: { word: "Retired", tone: "plain" },
  Failed: { word: "Failed", tone: "bad" },
  Superseded: { word: "Overtaken", tone: "plain" },
};

export function DeploymentsPage() {
  const name = useAgentName();
  const region = useAgentRegion();
  const deployments = useQuery(queries.deployments(name, region));
  const [asked, setAsked] = useState<DeploymentListItem>();
  const [followed, setFollowed] = useState<string>();
  const queryClient = useQueryClient();
  const mayChange = useMayChange();
  return (
    <div className="grid gap-6">
      {followed !== undefined && <RolloutCard name={name} deploymentId={followed} />}
      <QueryView query={deployments} what="deployments">
        {({ deployments: list }) => (
          <>
            <Card title="Deployments" about="Newest first." flush>
              <Table
                caption="Deployments"
                columns={columnsOf(mayChange ? setAsked : undefined)}
                rows={list}
                rowKey={({ id }) => id}
              />
            </Card>
            <Difference list={list} />
            <ConfirmDialog
              open={asked !== undefined}
              title="Roll back?"
              action="Roll back"
              onClose={() => setAsked(undefined)}
              onConfirm={async () => {
                if (!asked) return;
                const agent = await api().agents.rollback(name, asked.id, { region });
                setFollowed(agent.desiredDeploymentId);
                await queryClient.invalidateQueries();
              }}
            >
              {asked && <RollbackWords asked={asked} list={list} />}
            </ConfirmDialog>
          </>
        )}
      </QueryView>
    </div>
  );
}

function columnsOf(
  rollBack: ((deployment: DeploymentListItem) => void) | undefined,
): Column<DeploymentListItem>[] {
  const columns: Column<DeploymentListItem>[] = [
    {
      header: "Deployment",
      cell: ({ id }) => <code className="font-mono text-[0.8125rem]">{toShortId(id)}</code>,
    },
    {
      header: "State",
      cell: ({ phase, failure }) => (
        <>
          <Badge tone={phases[phase].tone}>{phases[phase].word}</Badge>
          {failure && (
            <p className="mt-1 line-clamp-3 max-w-80 text-[0.8125rem] text-muted [overflow-wrap:anywhere]">
              {failure.message}
            </p>
          )}
        </>
      ),
    },
    { header: "Made", cell: ({ createdAt }) => <Ago time={createdAt} /> },
    {
      header: "Runs",
      wideOnly: true,
      cell: ({ manifest }) => (
        <span className="text-muted [overflow-wrap:anywhere]">{toSource(manifest)}</span>
      ),
    },
    { header: "Profile", wideOnly: true, cell: ({ settings }) => settings.agentProfile },
    { header: "Filter", wideOnly: true, cell: ({ settings }) => settings.audioFilter ?? "Off" },
  ];
  if (!rollBack) return columns;
  return [
    ...columns,
    {
      header: "Roll back",
      hiddenHeader: true,
      align: "right",
      narrow: true,
      cell: (deployment) =>
        canRollBack(deployment) && (
          <Button
            size="small"
            aria-label={`Roll back to ${toShortId(deployment.id)}`}
            onClick={() => rollBack(deployment)}
          >
            Roll back
          </Button>
        ),
    },
  ];
}

/** To something that has served, and does not now. */
function canRollBack({ phase }: DeploymentListItem): boolean {
  return phase === "Retired" || phase === "Draining";
}

function RollbackWords({ asked, list }: { asked: DeploymentListItem; list: DeploymentListItem[] }) {
  const serving = list.find(({ phase }) => phase === "Active");
  return (
    <div className="grid gap-3">
      <p>
        A new deployment is created from {toShortId(asked.id)} ({toDateTime(asked.createdAt)}) and rolled out.
        Running sessions are not interrupted.
      </p>
      {serving && <Changes before={serving} after={asked} />}
    </div>
  );
}

function Difference({ list }: { list: DeploymentListItem[] }) {
  const [chosen, setChosen] = useState<{ before?: string; after?: string }>({});
  const after = list.find(({ id }) => id === chosen.after) ?? list[0];
  const before = list.find(({ id }) => id === chosen.before) ?? list[1];
  if (!after || !before) return null;
  const options = list.map(({ id, createdAt, phase }) => ({
    value: id,
    label: `${toShortId(id)} · ${toDateTime(createdAt)} · ${phases[phase].word}`,
  }));
  return (
    <Card
      title="Compare"
      about="The settings of two deployments. Scaling belongs to the agent, not to a deployment."
    >
      <div className="grid gap-4">
        <div className="grid gap-3 sm:grid-cols-2">
          <SelectField
            label="From"
            value={before.id}
            options={options}
            onChange={(id) => setChosen({ ...chosen, before: id })}
          />
          <SelectField
            label="To"
            value={after.id}
            options={options}
            onChange={(id) => setChosen({ ...chosen, after: id })}
          />
        </div>
        <Changes before={before} after={after} />
      </div>
    </Card>
  );
}

function Changes({ before, after }: { before: DeploymentListItem; after: DeploymentListItem }) {
  const changes = changesBetween(before.settings, after.settings);
  if (changes.length === 0) return <p className="text-sm text-muted">No differences.</p>;
  return (
    <dl className="grid gap-3 text-sm">
      {changes.map((change) => (
        <div key={change.label} className="grid gap-1">
          <dt className="font-medium text-ink">{change.label}</dt>
          <dd className="rounded-lg bg-danger-soft px-3 py-1.5 font-mono text-xs text-ink [overflow-wrap:anywhere]">
            <span className="text-danger select-none">− </span>
            <span className="sr-only">before: </span>
            {change.before}
          </dd>
          <dd className="rounded-lg bg-accent-soft px-3 py-1.5 font-mono text-xs text-ink [overflow-wrap:anywhere]">
            <span className="text-accent-deep select-none">+ </span>
            <span className="sr-only">after: </span>
            {change.after}
          </dd>
        </div>
      ))}
    </dl>
  );
}
