import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { SecretSetSummary } from "@vocalhost/protocol";
import { useState } from "react";
import { Button } from "../../shared/button.tsx";
import { api } from "../data/api.ts";
import { useMayChange } from "../data/me.ts";
import { queries } from "../data/queries.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Card } from "../ui/card.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Alert, Empty } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { say } from "../ui/toast.tsx";
import { CreateSetDialog } from "./create-set-dialog.tsx";
import { agentsUsing } from "./secret-form.ts";
import { SetDialog } from "./set-dialog.tsx";

const PENDING_POLL_MS = 1_000;
const POLL_MS = 30_000;

export function SecretsPage() {
  const sets = useQuery({
    ...queries.secretSets(),
    refetchInterval: ({ state }) =>
      state.data?.sets.some(({ status }) => status === "pending") ? PENDING_POLL_MS : POLL_MS,
  });
  const mayChange = useMayChange();
  const [isCreating, setCreating] = useState(false);
  const [openName, setOpenName] = useState<string>();
  const [deleting, setDeleting] = useState<SecretSetSummary>();
  const list = sets.data?.sets ?? [];
  return (
    <Page
      title="Secrets"
      about="Values your bots read from their environment. They are encrypted and never shown again."
      actions={
        mayChange && (
          <Button size="small" look="primary" icon="plus" onClick={() => setCreating(true)}>
            Create set
          </Button>
        )
      }
    >
      <QueryView query={sets} what="secrets">
        {() => (
          <Card flush>
            {list.length === 0 ? (
              <Empty icon="secret" title="No secrets yet">
                Create a set for the keys of your model providers, and name it in an agent’s settings. Each
                key becomes an environment variable.
              </Empty>
            ) : (
              <Sets sets={list} onOpen={setOpenName} {...(mayChange ? { onDelete: setDeleting } : {})} />
            )}
          </Card>
        )}
      </QueryView>
      <CreateSetDialog open={isCreating} onClose={() => setCreating(false)} onCreated={setOpenName} />
      <SetDialog set={list.find(({ name }) => name === openName)} onClose={() => setOpenName(undefined)} />
      <DeleteSet set={deleting} onClose={() => setDeleting(undefined)} />
    </Page>
  );
}

interface SetsProps {
  sets: SecretSetSummary[];
  onOpen: (name: string) => void;
  onDelete?: (set: SecretSetSummary) => void;
}

const tones: Record<SecretSetSummary["status"], Tone> = { pending: "busy", ready: "good", failed: "bad" };

function Sets({ sets, onOpen, onDelete }: SetsProps) {
  const agents = useQuery(queries.agents());
  const columns: Column<SecretSetSummary>[] = [
    {
      header: "Set",
      cell: ({ name, type }) => (
        <>
          <button
            type="button"
            className="text-left font-semibold [overflow-wrap:anywhere] hover:text-accent-deep hover:underline"
            onClick={() => onOpen(name)}
          >
            {name}
          </button>
          <span className="block text-[0.8125rem] text-muted">{toTypeWord(type)}</span>
        </>
      ),
    },
    {
      header: "Status",
      cell: ({ status, errorMessage }) => (
        <>
          <Badge tone={tones[status]}>{status}</Badge>
          {errorMessage && <span className="block text-[0.8125rem] text-danger">{errorMessage}</span>}
        </>
      ),
    },
    {
      header: "Used by",
      wideOnly: true,
      cell: ({ name }) => (
        <span className="text-muted">
          {agents.data ? agentsUsing(name, agents.data.services).join(", ") || "No agent" : "–"}
        </span>
      ),
    },
    { header: "Region", wideOnly: true, cell: ({ region }) => <span className="text-muted">{region}</span> },
    {
      header: "Actions",
      hiddenHeader: true,
      align: "right",
      narrow: true,
      cell: (set) =>
        onDelete && (
          <Button size="small" look="danger" aria-label={`Delete ${set.name}`} onClick={() => onDelete(set)}>
            Delete
          </Button>
        ),
    },
  ];
  return <Table caption="Secret sets" columns={columns} rows={sets} rowKey={({ name }) => name} />;
}

function DeleteSet({ set, onClose }: { set: SecretSetSummary | undefined; onClose: () => void }) {
  const queryClient = useQueryClient();
  const agents = useQuery(queries.agents());
  const users = set && agents.data ? agentsUsing(set.name, agents.data.services) : [];
  return (
    <ConfirmDialog
      open={set !== undefined}
      title={`Delete ${set?.name ?? ""}?`}
      action="Delete set"
      danger
      {...(set && users.length > 0 ? { typed: set.name } : {})}
      onClose={onClose}
      onConfirm={async () => {
        if (set) await api().secrets.delete(set.name);
        say(`${set?.name ?? "The set"} deleted.`);
        await queryClient.invalidateQueries({ queryKey: queries.secretSets().queryKey });
      }}
    >
      <div className="grid gap-3">
        {users.length > 0 && (
          <Alert tone="busy" title={`In use by ${users.join(", ")}`}>
            Their next instances would start without these values or not at all. Give them another set first.
          </Alert>
        )}
        {agents.error && <Alert tone="busy" title="Could not find out which agents use it" />}
        <p>
          {set?.type === "imagePullSecret" ? "The credential" : "All of its values"} will be deleted
          permanently.
        </p>
      </div>
    </ConfirmDialog>
  );
}

function toTypeWord(type: SecretSetSummary["type"]): string {
  return type === "secret" ? "Environment" : "Image pull";
}
