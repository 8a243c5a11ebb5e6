import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Member, MemberInvited } from "@vocalhost/protocol";
import { useState } from "react";
import { Button } from "../../shared/button.tsx";
import { ChoiceField } from "../../shared/choice-field.tsx";
import { Icon } from "../../shared/icon.tsx";
import { api } from "../data/api.ts";
import { useMe } from "../data/me.ts";
import { queries } from "../data/queries.ts";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { Failed } from "../ui/notice.tsx";

interface InviteDialogProps {
  open: boolean;
  onClose: () => void;
  onInvited: (invited: MemberInvited & { email: string }) => void;
}

const roles = [
  { value: "viewer", label: "Viewer", hint: "Can view" },
  { value: "admin", label: "Admin", hint: "Can make changes" },
  { value: "owner", label: "Owner", hint: "Can appoint owners" },
];

export function InviteDialog({ open, onClose, onInvited }: InviteDialogProps) {
  return (
    <Dialog open={open} title="Invite someone" onClose={onClose}>
      <InviteForm {...{ onClose, onInvited }} />
    </Dialog>
  );
}

function InviteForm({ onClose, onInvited }: Omit<InviteDialogProps, "open">) {
  const me = useMe();
  const queryClient = useQueryClient();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Member["role"]>("viewer");
  const invite = useMutation({
    mutationFn: () => api().members.invite({ email: email.trim(), role }),
    onSuccess: async (invited) => {
      onInvited({ ...invited, email: email.trim() });
      onClose();
      await queryClient.invalidateQueries({ queryKey: queries.members().queryKey });
    },
  });
  return (
    <form
      className="mt-3 grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        invite.mutate();
      }}
    >
      {invite.error && <Failed error={invite.error} />}
      <TextField
        label="E-mail"
        type="email"
        autoComplete="off"
        required
        value={email}
        onChange={setEmail}
        hint="You get a link to pass on; nothing is sent from here."
      />
      <ChoiceField
        label="Role"
        value={role}
        options={roles.filter(({ value }) => value !== "owner" || me.role === "owner")}
        onChange={(value) => setRole(value as Member["role"])}
      />
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onClose}>
          Cancel
        </Button>
        <Button
          type="submit"
          size="small"
          look="primary"
          disabled={!/^[^\s@]+@[^\s@]+$/.test(email.trim()) || invite.isPending}
        >
          {invite.isPending ? "Creating the link…" : "Create link"}
        </Button>
      </div>
    </form>
  );
}

type Role = Member["role"];

interface RoleSelectProps {
  /** Read out. */
  label: string;
  role: Role;
  mayMakeOwner: boolean;
  disabled?: boolean;
  onChange: (role: Role) => void;
}

export function RoleSelect({ label, role, mayMakeOwner, disabled, onChange }: RoleSelectProps) {
  const roles: Role[] = mayMakeOwner ? ["viewer", "admin", "owner"] : ["viewer", "admin"];
  return (
    <span className="relative inline-flex items-center">
      <select
        aria-label={label}
        className="h-9 appearance-none rounded-lg border border-edge bg-surface pr-8 pl-3 text-sm hover:border-ink disabled:opacity-60"
        value={role}
        disabled={disabled}
        onChange={(event) => onChange(event.target.value as Role)}
      >
        {roles.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
      <Icon name="chevron" className="pointer-events-none absolute right-2.5 size-4 rotate-90 text-muted" />
    </span>
  );
}
