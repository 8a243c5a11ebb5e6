import type { Member } from "@vocalhost/protocol";
import { Icon } from "../../shared/icon.tsx";

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
