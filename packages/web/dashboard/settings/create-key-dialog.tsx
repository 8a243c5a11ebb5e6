import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { KeyCreated } from "@vocalhost/protocol";
import { useState } from "react";
import { Button } from "../../shared/button.tsx";
import { api } from "../data/api.ts";
import { queries } from "../data/queries.ts";
import { Dialog } from "../ui/dialog.tsx";
import { CheckField, NumberField, TextField } from "../ui/field.tsx";
import { Failed } from "../ui/notice.tsx";
import { emptyKeyForm, isComplete, keyProblems, toCreateKey, type KeyForm } from "./key-form.ts";

export type KeyKind = "private" | "public";

interface CreateKeyDialogProps {
  kind: KeyKind;
  open: boolean;
  onClose: () => void;
  onCreated: (created: KeyCreated & { kind: KeyKind; name: string }) => void;
}

export function CreateKeyDialog({ kind, open, onClose, onCreated }: CreateKeyDialogProps) {
  return (
    <Dialog open={open} title={`Create a ${kind} key`} onClose={onClose}>
      <CreateKeyForm {...{ kind, onClose, onCreated }} />
    </Dialog>
  );
}

function CreateKeyForm({ kind, onClose, onCreated }: Omit<CreateKeyDialogProps, "open">) {
  const queryClient = useQueryClient();
  const [form, setForm] = useState(emptyKeyForm);
  const problems = keyProblems(form);
  const set = (changes: Partial<KeyForm>) => setForm((before) => ({ ...before, ...changes }));
  const create = useMutation({
    mutationFn: () => api().keys.create(toCreateKey(kind, form)),
    onSuccess: async (created) => {
      onCreated({ ...created, kind, name: form.name.trim() });
      onClose();
      await queryClient.invalidateQueries({ queryKey: queries.keys().queryKey });
    },
  });
  return (
    <form
      className="mt-3 grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      {create.error && <Failed error={create.error} />}
      <TextField
        label="Name"
        value={form.name}
        onChange={(name) => set({ name })}
        maxLength={100}
        autoComplete="off"
        hint={
          kind === "private"
            ? "Where it will be used, e.g. “deploys from CI”"
            : "Who will use it, e.g. “web site”"
        }
      />
      {kind === "public" && (
        <>
          <Agents chosen={form.agents} onChange={(agents) => set({ agents })} />
          <div className="grid gap-4 sm:grid-cols-2">
            <NumberField
              label="Starts per minute"
              value={form.ratePerMinute}
              onChange={(ratePerMinute) => set({ ratePerMinute })}
              problem={problems.ratePerMinute}
              hint="Leave empty for no limit"
            />
            <NumberField
              label="Concurrent sessions"
              value={form.concurrency}
              onChange={(concurrency) => set({ concurrency })}
              problem={problems.concurrency}
              hint="Leave empty for no limit"
            />
          </div>
        </>
      )}
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" size="small" look="primary" disabled={!isComplete(form) || create.isPending}>
          {create.isPending ? "Creating…" : "Create key"}
        </Button>
      </div>
    </form>
  );
}

function Agents({
  chosen,
  onChange,
}: {
  chosen: string[] | undefined;
  onChange: (agents: string[] | undefined) => void;
}) {
  const agents = useQuery(queries.agents());
  const names = (agents.data?.services ?? []).map(({ name }) => name);
  return (
    <fieldset>
      <legend className="text-[0.8125rem] font-medium text-muted">Agents it may start</legend>
      <CheckField
        label="All agents, including future ones"
        checked={chosen === undefined}
        onChange={(all) => onChange(all ? undefined : [])}
      />
      {chosen && (
        <div className="ml-6 max-h-40 overflow-y-auto">
          {agents.error && <Failed error={agents.error} retry={() => void agents.refetch()} />}
          {names.length === 0 && !agents.error && <p className="text-sm text-muted">No agents yet.</p>}
          {names.map((name) => (
            <CheckField
              key={name}
              label={name}
              checked={chosen.includes(name)}
              onChange={(checked) =>
                onChange(checked ? [...chosen, name] : chosen.filter((each) => each !== name))
              }
            />
          ))}
        </div>
      )}
    </fieldset>
  );
}
