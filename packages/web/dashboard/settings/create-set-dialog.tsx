import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../shared/button.tsx";
import { ChoiceField } from "../../shared/choice-field.tsx";
import { SelectField } from "../../shared/select-field.tsx";
import { api } from "../data/api.ts";
import { queries } from "../data/queries.ts";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { Failed } from "../ui/notice.tsx";
import { say } from "../ui/toast.tsx";
import { hostProblem, keyNameProblem, setNameProblem, toPullCredential } from "./secret-form.ts";
import { ValueField } from "./value-field.tsx";

interface CreateSetDialogProps {
  open: boolean;
  onClose: () => void;
  /** Named, so that more can be added to it. */
  onCreated: (name: string) => void;
}

const types = [
  { value: "secret", label: "Environment", hint: "Keys your bot reads" },
  { value: "imagePullSecret", label: "Image pull", hint: "Access to a registry" },
];

const empty = { name: "", region: "", secretKey: "", secretValue: "", host: "", username: "", token: "" };

export function CreateSetDialog({ open, onClose, onCreated }: CreateSetDialogProps) {
  return (
    <Dialog open={open} title="Create a secret set" onClose={onClose}>
      <CreateSetForm {...{ onClose, onCreated }} />
    </Dialog>
  );
}

function CreateSetForm({ onClose, onCreated }: Omit<CreateSetDialogProps, "open">) {
  const queryClient = useQueryClient();
  const [type, setType] = useState("secret");
  const [form, setForm] = useState(empty);
  const set = (field: keyof typeof empty) => (value: string) =>
    setForm((before) => ({ ...before, [field]: value }));
  const sets = useQuery(queries.secretSets());
  const isTaken = sets.data?.sets.some(({ name }) => name === form.name) ?? false;
  const problems = [setNameProblem(form.name), keyNameProblem(form.secretKey), hostProblem(form.host)];
  const needed =
    type === "secret" ? [form.secretKey, form.secretValue] : [form.host, form.username, form.token];
  const isComplete = form.name !== "" && !isTaken && !needed.includes("") && !problems.some(Boolean);
  const create = useMutation({
    mutationFn: () => {
      const region = form.region === "" ? {} : { region: form.region };
      return type === "secret"
        ? api().secrets.put(form.name, {
            ...region,
            secrets: [{ secretKey: form.secretKey, secretValue: form.secretValue }],
          })
        : api().secrets.put(form.name, {
            ...region,
            isImagePullSecret: true,
            host: form.host,
            secretValue: toPullCredential(form.username, form.token),
          });
    },
    onSuccess: async () => {
      say(`${form.name} saved.`);
      onClose();
      await queryClient.invalidateQueries({ queryKey: queries.secretSets().queryKey });
      if (type === "secret") onCreated(form.name);
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
      <ChoiceField label="Kind" dense value={type} options={types} onChange={setType} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Name"
          value={form.name}
          onChange={set("name")}
          autoComplete="off"
          spellCheck={false}
          problem={isTaken ? "A set with this name already exists" : setNameProblem(form.name)}
        />
        <Regions value={form.region} onChange={set("region")} />
      </div>
      {type === "secret" ? (
        <>
          <TextField
            label="First key"
            value={form.secretKey}
            onChange={set("secretKey")}
            autoComplete="off"
            spellCheck={false}
            placeholder="OPENAI_API_KEY"
            problem={keyNameProblem(form.secretKey)}
          />
          <ValueField label="Value" value={form.secretValue} onChange={set("secretValue")} />
        </>
      ) : (
        <>
          <TextField
            label="Registry"
            value={form.host}
            onChange={set("host")}
            autoComplete="off"
            spellCheck={false}
            placeholder="https://ghcr.io"
            problem={hostProblem(form.host)}
          />
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label="User name"
              value={form.username}
              onChange={set("username")}
              autoComplete="off"
              spellCheck={false}
            />
            <TextField
              label="Token"
              type="password"
              value={form.token}
              onChange={set("token")}
              autoComplete="new-password"
            />
          </div>
        </>
      )}
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" size="small" look="primary" disabled={!isComplete || create.isPending}>
          {create.isPending ? "Saving…" : "Save"}
        </Button>
      </div>
    </form>
  );
}

function Regions({ value, onChange }: { value: string; onChange: (code: string) => void }) {
  const regions = useQuery(queries.regions());
  const properties = useQuery(queries.properties());
  const preset = properties.data?.properties.defaultRegion.currentValue;
  const list = regions.data?.regions ?? [];
  return (
    <SelectField
      label="Region"
      value={value || preset || ""}
      disabled={list.length < 2}
      options={list.map(({ code, display_name: label }) => ({ value: code, label }))}
      onChange={onChange}
    />
  );
}
