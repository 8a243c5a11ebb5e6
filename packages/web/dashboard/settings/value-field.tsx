import { useId } from "react";
import { TextField } from "../ui/field.tsx";
import { hostProblem } from "./secret-form.ts";

interface ValueFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** A secret on its way in; certificates and keys have several lines. */
export function ValueField({ label, value, onChange }: ValueFieldProps) {
  const id = useId();
  return (
    <div className="min-w-0">
      <label className="mb-1.5 block text-[0.8125rem] font-medium text-muted" htmlFor={id}>
        {label}
      </label>
      <textarea
        id={id}
        rows={2}
        className="block w-full resize-y rounded-xl border border-edge bg-surface p-3 font-mono text-[0.8125rem] leading-relaxed hover:border-ink"
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

export interface RegistryLogin {
  host: string;
  username: string;
  token: string;
}

interface RegistryFieldsProps {
  login: RegistryLogin;
  set: (field: keyof RegistryLogin) => (value: string) => void;
}

/** The address of a registry and the login for it. */
export function RegistryFields({ login, set }: RegistryFieldsProps) {
  return (
    <>
      <TextField
        label="Registry"
        value={login.host}
        onChange={set("host")}
        autoComplete="off"
        spellCheck={false}
        placeholder="https://ghcr.io"
        problem={hostProblem(login.host)}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="User name"
          value={login.username}
          onChange={set("username")}
          autoComplete="off"
          spellCheck={false}
        />
        <TextField
          label="Token"
          type="password"
          value={login.token}
          onChange={set("token")}
          autoComplete="new-password"
        />
      </div>
    </>
  );
}
