import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { AgentRecord, DeploymentSettings } from "@vocalhost/protocol";
import { useState } from "react";
import { Button } from "../../shared/button.tsx";
import { api } from "../data/api.ts";
import { useMayChange } from "../data/me.ts";
import { queries } from "../data/queries.ts";
import { Card } from "../ui/card.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Alert, Failed } from "../ui/notice.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { say } from "../ui/toast.tsx";
import { useAgentName, useAgentRegion } from "./agent-name.ts";
import { toEngineNote } from "./agent-words.ts";
import {
  changesOf,
  formRows,
  needsRollout,
  problemsOf,
  toForm,
  type ConfigurationForm,
} from "./configuration-form.ts";
import { RolloutCard } from "./rollout-card.tsx";
import { SettingField } from "./setting-field.tsx";

export function ConfigurationPage() {
  const name = useAgentName();
  const region = useAgentRegion();
  const agent = useQuery(queries.agent(name, region));
  const deployments = useQuery(queries.deployments(name, region));
  const [followed, setFollowed] = useState<string>();
  const desired = deployments.data?.deployments.find(({ id }) => id === agent.data?.desiredDeploymentId);
  return (
    <div className="grid gap-6">
      {followed !== undefined && <RolloutCard name={name} deploymentId={followed} />}
      <QueryView query={deployments} what="the configuration">
        {() =>
          agent.data && desired ? (
            <Configuration agent={agent.data} settings={desired.settings} onRollout={setFollowed} />
          ) : (
            <Alert tone="busy" title="The configuration is being changed" />
          )
        }
      </QueryView>
      {agent.data && <Danger agent={agent.data} />}
    </div>
  );
}

interface ConfigurationProps {
  agent: AgentRecord;
  settings: DeploymentSettings;
  onRollout: (deploymentId: string) => void;
}

function Configuration({ agent, settings, onRollout }: ConfigurationProps) {
  const queryClient = useQueryClient();
  const mayChange = useMayChange();
  const voiceFilter = useQuery(queries.voiceFilter());
  const current = toForm(agent, settings);
  const [edited, setEdited] = useState<Partial<ConfigurationForm>>({});
  const form = { ...current, ...edited };
  const problems = problemsOf(form);
  const changes = changesOf(current, form);
  const save = useMutation({
    mutationFn: () => api().agents.update(agent.name, { ...changes, region: agent.region }),
    onSuccess: async (record) => {
      if (record.desiredDeploymentId === agent.desiredDeploymentId) say("Saved. It applies at once.");
      else onRollout(record.desiredDeploymentId);
      await queryClient.invalidateQueries();
      setEdited({});
    },
  });
  const set = (name: keyof ConfigurationForm) => (value: string) => {
    save.reset();
    setEdited((before) => ({ ...before, [name]: value }));
  };
  const hasChanges = Object.keys(changes).length > 0;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Card
        title="Agent configuration"
        about="Running sessions keep the settings they started with."
        footer={
          <SaveBar
            mayChange={mayChange}
            canSave={hasChanges && Object.keys(problems).length === 0 && !save.isPending}
            isSaving={save.isPending}
            hasChanges={hasChanges}
            rollsOut={needsRollout(changes)}
            onDiscard={() => setEdited({})}
          />
        }
      >
        <fieldset disabled={!mayChange || save.isPending} className="grid gap-5">
          <legend className="sr-only">Agent configuration</legend>
          {save.error && <Failed error={save.error} />}
          {save.data?.warning && <Alert tone="busy" title={save.data.warning} />}
          <div className="grid gap-5 sm:grid-cols-2">
            {formRows.map((row) => (
              <SettingField
                key={row.name}
                row={row}
                value={form[row.name]}
                problem={problems[row.name]}
                disabled={!mayChange}
                note={row.name === "audioFilter" ? toEngineNote(voiceFilter.data) : undefined}
                onChange={set(row.name)}
              />
            ))}
          </div>
        </fieldset>
      </Card>
    </form>
  );
}

interface SaveBarProps {
  mayChange: boolean;
  canSave: boolean;
  isSaving: boolean;
  hasChanges: boolean;
  rollsOut: boolean;
  onDiscard: () => void;
}

function SaveBar({ mayChange, canSave, isSaving, hasChanges, rollsOut, onDiscard }: SaveBarProps) {
  if (!mayChange) return <span className="text-sm text-muted">Your role is read-only.</span>;
  return (
    <>
      <Button type="submit" look="primary" size="small" disabled={!canSave}>
        {isSaving ? "Saving…" : rollsOut ? "Save and redeploy" : "Save"}
      </Button>
      {hasChanges && (
        <Button size="small" onClick={onDiscard}>
          Discard
        </Button>
      )}
      <span className="text-sm text-muted">{hint(hasChanges, rollsOut)}</span>
    </>
  );
}

function hint(hasChanges: boolean, rollsOut: boolean): string {
  if (!hasChanges) return "Nothing changed.";
  return rollsOut ? "Makes a new deployment and rolls it out." : "Applies at once, without a new deployment.";
}

function Danger({ agent: { name, region, regions = [] } }: { agent: AgentRecord }) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const mayChange = useMayChange();
  const [asks, setAsks] = useState(false);
  if (!mayChange) return null;
  return (
    <Card
      title="Delete agent"
      about="No new sessions can start. Running sessions may finish. Logs and usage stay until they expire."
      actions={
        <Button size="small" look="danger" icon="trash" onClick={() => setAsks(true)}>
          Delete agent
        </Button>
      }
    >
      <ConfirmDialog
        open={asks}
        title={regions.length > 1 ? `Delete ${name} in ${region}?` : `Delete ${name}?`}
        action="Delete agent"
        danger
        typed={name}
        onClose={() => setAsks(false)}
        onConfirm={async () => {
          await api().agents.delete(name, { region });
          say(`${name} is being deleted`);
          await navigate({ to: "/agents" });
          await queryClient.invalidateQueries();
        }}
      >
        This cannot be undone.
      </ConfirmDialog>
    </Card>
  );
}
