import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { PutSecrets } from "@vocalhost/protocol";
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
import { RegistryFields, ValueField } from "./value-field.tsx";

interface CreateSetDialogProps {
  open: boolean;
  onClose: () => void;
  /** Called with the name of a new environment set, to add more keys to it. */
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
    mutationFn: () => api().secrets.put(form.name, contentOf(type, form)),
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
      {type === "secret" ? <FirstKey form={form} set={set} /> : <RegistryFields login={form} set={set} />}
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

interface FormPartProps {
  form: typeof empty;
  set: (field: keyof typeof empty) => (value: string) => void;
}

function FirstKey({ form, set }: FormPartProps) {
  return (
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
  );
}

function contentOf(type: string, form: typeof empty): PutSecrets {
  const region = form.region === "" ? {} : { region: form.region };
  const { host, secretKey, secretValue, username, token } = form;
  return type === "secret"
    ? { ...region, secrets: [{ secretKey, secretValue }] }
    : { ...region, isImagePullSecret: true, host, secretValue: toPullCredential(username, token) };
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
