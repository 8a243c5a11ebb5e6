import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { SecretSetSummary } from "@vocalhost/protocol";
import { useState } from "react";
import { Button } from "../../shared/button.tsx";
import { api } from "../data/api.ts";
import { useMayChange } from "../data/me.ts";
import { queries } from "../data/queries.ts";
import { Facts } from "../ui/card.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { Alert, Failed } from "../ui/notice.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { say } from "../ui/toast.tsx";
import { agentsUsing, hostProblem, keyNameProblem, toPullCredential } from "./secret-form.ts";
import { RegistryFields, ValueField } from "./value-field.tsx";

/** The content of one set: names, never values. */
export function SetDialog({ set, onClose }: { set: SecretSetSummary | undefined; onClose: () => void }) {
  return (
    <Dialog open={set !== undefined} title={set?.name ?? ""} onClose={onClose}>
      {set && <SetContent key={set.name} set={set} />}
    </Dialog>
  );
}

function SetContent({ set }: { set: SecretSetSummary }) {
  const agents = useQuery(queries.agents());
  const users = agents.data ? agentsUsing(set.name, agents.data.services) : [];
  const [isChanged, setChanged] = useState(false);
  const mayChange = useMayChange();
  return (
    <div className="mt-3 grid gap-5">
      <Facts
        facts={[
          { label: "Region", value: set.region },
          { label: "Status", value: set.errorMessage ? `${set.status}: ${set.errorMessage}` : set.status },
          { label: "Used by", value: users.join(", ") || "No agent" },
        ]}
      />
      {isChanged && users.length > 0 && (
        <Alert tone="busy" title={`Redeploy ${users.join(", ")}`}>
          Values are read when an instance starts. Running instances keep the old ones.
        </Alert>
      )}
      {set.type === "secret" ? (
        <Keys name={set.name} mayChange={mayChange} onChanged={() => setChanged(true)} />
      ) : (
        mayChange && <PullCredential name={set.name} onChanged={() => setChanged(true)} />
      )}
    </div>
  );
}

interface PartProps {
  name: string;
  onChanged: () => void;
}

function Keys({ name, mayChange, onChanged }: PartProps & { mayChange: boolean }) {
  const content = useQuery(queries.secretSet(name));
  const queryClient = useQueryClient();
  const [removing, setRemoving] = useState<string>();
  const [key, setKey] = useState("");
  const refresh = () => queryClient.invalidateQueries({ queryKey: queries.secretSets().queryKey });
  const remove = useMutation({
    mutationFn: (secretKey: string) => api().secrets.deleteKey(name, secretKey),
    onSuccess: async (_answer, secretKey) => {
      setRemoving(undefined);
      say(`${secretKey} removed.`);
      onChanged();
      await refresh();
    },
  });
  return (
    <QueryView query={content} what="its keys">
      {({ secrets }) => (
        <>
          {remove.error && <Failed error={remove.error} />}
          {secrets.length === 0 && <p className="text-sm text-muted">The set is empty.</p>}
          <ul aria-label="Keys" className="divide-y divide-line rounded-xl border border-line">
            {secrets.map(({ fieldName }) => (
              <KeyRow
                key={fieldName}
                name={fieldName}
                asks={removing === fieldName}
                isRemoving={remove.isPending}
                mayChange={mayChange}
                onAsk={setRemoving}
                onReplace={setKey}
                onRemove={remove.mutate}
              />
            ))}
          </ul>
          {mayChange && (
            <KeyForm
              isReplacement={secrets.some(({ fieldName }) => fieldName === key)}
              onStored={async () => {
                onChanged();
                await refresh();
              }}
              {...{ name, secretKey: key, setSecretKey: setKey }}
            />
          )}
        </>
      )}
    </QueryView>
  );
}

interface KeyRowProps {
  name: string;
  /** Whether the row asks for a confirmation. */
  asks: boolean;
  isRemoving: boolean;
  mayChange: boolean;
  onAsk: (name: string | undefined) => void;
  onReplace: (name: string) => void;
  onRemove: (name: string) => void;
}

function KeyRow({ name, asks, isRemoving, mayChange, onAsk, onReplace, onRemove }: KeyRowProps) {
  return (
    <li className="flex flex-wrap items-center gap-2 px-3 py-2">
      <code className="min-w-0 flex-1 font-mono text-[0.8125rem] [overflow-wrap:anywhere]">{name}</code>
      {asks ? (
        <span role="group" aria-label={`Remove ${name}?`} className="flex gap-2">
          <Button size="small" onClick={() => onAsk(undefined)}>
            Keep
          </Button>
          <Button size="small" look="danger" disabled={isRemoving} onClick={() => onRemove(name)}>
            Remove permanently
          </Button>
        </span>
      ) : (
        <>
          <span aria-hidden="true" className="text-sm tracking-widest text-muted">
            ••••••
          </span>
          {mayChange && (
            <>
              <Button
                size="small"
                look="quiet"
                aria-label={`Replace ${name}`}
                onClick={() => onReplace(name)}
              >
                Replace
              </Button>
              <Button size="small" look="quiet" aria-label={`Remove ${name}`} onClick={() => onAsk(name)}>
                Remove
              </Button>
            </>
          )}
        </>
      )}
    </li>
  );
}

interface KeyFormProps {
  name: string;
  secretKey: string;
  setSecretKey: (key: string) => void;
  /** The key exists: its value is replaced. */
  isReplacement: boolean;
  onStored: () => Promise<void>;
}

function KeyForm({ name, secretKey, setSecretKey, isReplacement, onStored }: KeyFormProps) {
  const [secretValue, setValue] = useState("");
  const store = useMutation({
    mutationFn: () => api().secrets.put(name, { secrets: [{ secretKey, secretValue }] }),
    onSuccess: async () => {
      say(isReplacement ? `${secretKey} replaced.` : `${secretKey} added.`);
      setSecretKey("");
      setValue("");
      await onStored();
    },
  });
  const problem = keyNameProblem(secretKey);
  return (
    <form
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        store.mutate();
      }}
    >
      {store.error && <Failed error={store.error} />}
      <TextField
        label="Key"
        value={secretKey}
        onChange={setSecretKey}
        autoComplete="off"
        spellCheck={false}
        problem={problem}
      />
      <ValueField label={isReplacement ? "New value" : "Value"} value={secretValue} onChange={setValue} />
      <div className="flex justify-end">
        <Button
          type="submit"
          size="small"
          look="primary"
          disabled={secretKey === "" || secretValue === "" || problem !== undefined || store.isPending}
        >
          {store.isPending ? "Saving…" : isReplacement ? "Replace value" : "Add key"}
        </Button>
      </div>
    </form>
  );
}

function PullCredential({ name, onChanged }: PartProps) {
  const queryClient = useQueryClient();
  const [form, setForm] = useState({ host: "", username: "", token: "" });
  const set = (field: keyof typeof form) => (value: string) =>
    setForm((before) => ({ ...before, [field]: value }));
  const store = useMutation({
    mutationFn: () =>
      api().secrets.put(name, {
        isImagePullSecret: true,
        host: form.host,
        secretValue: toPullCredential(form.username, form.token),
      }),
    onSuccess: async () => {
      say("Credential replaced.");
      setForm({ host: "", username: "", token: "" });
      onChanged();
      await queryClient.invalidateQueries({ queryKey: queries.secretSets().queryKey });
    },
  });
  const isComplete = Object.values(form).every((value) => value !== "") && !hostProblem(form.host);
  return (
    <form
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        store.mutate();
      }}
    >
      {store.error && <Failed error={store.error} />}
      <p className="text-sm text-muted">The credential cannot be read; it can be replaced.</p>
      <RegistryFields login={form} set={set} />
      <div className="flex justify-end">
        <Button type="submit" size="small" look="primary" disabled={!isComplete || store.isPending}>
          {store.isPending ? "Saving…" : "Replace credential"}
        </Button>
      </div>
    </form>
  );
}
