import { Menu } from "@base-ui/react/menu";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useSyncExternalStore, type ReactNode } from "react";
import { Icon, type IconName } from "../../shared/icon.tsx";
import { isDark, onThemeChange, toggleTheme } from "../../shared/theme.ts";
import { live } from "../data/events.ts";
import { useMe } from "../data/me.ts";
import { chosenOrganization, sessionLost } from "../data/session.ts";
import { signOut } from "../sign-in/auth-requests.ts";
import { say } from "../ui/toast.tsx";
import { organizationDialogOpen } from "./create-organization-dialog.tsx";
import { helpOpen } from "./shortcuts.ts";

/** Your account, the organisation, and personal settings. */
export function AccountMenu({ compact = false }: { compact?: boolean }) {
  const me = useMe();
  const dark = useSyncExternalStore(onThemeChange, isDark);
  const leave = useSignOut();
  const organization = me.organizations.find(({ name }) => name === me.organization);
  return (
    <Menu.Root>
      <Menu.Trigger
        {...(compact ? { "aria-label": `Account: ${me.email}` } : {})}
        className={`flex items-center gap-2.5 rounded-lg text-left transition-colors hover:bg-sunken data-popup-open:bg-sunken ${compact ? "size-10 justify-center" : "min-h-12 w-full px-2.5 py-1.5"}`}
      >
        <Icon name="account" className="size-5 text-muted" />
        {!compact && (
          <span className="min-w-0 flex-1">
            <span className="block truncate text-sm font-medium">
              {organization?.verboseName ?? me.organization}
            </span>
            <span className="block truncate text-xs text-muted">{me.email}</span>
          </span>
        )}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner
          className="z-30 outline-none"
          side={compact ? "bottom" : "top"}
          align="start"
          sideOffset={6}
        >
          <Menu.Popup className="grid w-64 gap-0.5 rounded-xl border border-line bg-surface p-1.5 text-sm shadow-lg outline-none">
            <p className="truncate px-2.5 py-1.5 text-xs text-muted">
              {me.email} · {me.role}
            </p>
            {me.organizations.length > 1 && <Organizations />}
            {me.role === "owner" && (
              <Item icon="plus" onClick={() => organizationDialogOpen.set(true)}>
                Create organisation
              </Item>
            )}
            <Item icon={dark ? "sun" : "moon"} onClick={toggleTheme}>
              {dark ? "Light theme" : "Dark theme"}
            </Item>
            <Item icon="help" onClick={() => helpOpen.set(true)}>
              Shortcuts and help
            </Item>
            <Item icon="back" onClick={leave}>
              Sign out
            </Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function Organizations() {
  const me = useMe();
  const navigate = useNavigate();
  return (
    <Menu.RadioGroup
      value={me.organization}
      onValueChange={(name: string) => {
        live.set("connecting");
        chosenOrganization.set(name);
        void navigate({ to: "/agents" }); // what was on the screen belongs to another
      }}
      className="mb-1 border-b border-line pb-1"
    >
      {me.organizations.map(({ name, verboseName }) => (
        <Menu.RadioItem
          key={name}
          value={name}
          closeOnClick
          className="flex min-h-10 cursor-pointer items-center gap-2.5 rounded-lg px-2.5 outline-none data-highlighted:bg-sunken"
        >
          <span className="grid size-4 place-items-center">
            <Menu.RadioItemIndicator>
              <Icon name="check" className="size-4 text-accent" />
            </Menu.RadioItemIndicator>
          </span>
          <span className="truncate">{verboseName}</span>
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  );
}

function Item({ icon, onClick, children }: { icon: IconName; onClick: () => void; children: ReactNode }) {
  return (
    <Menu.Item
      onClick={onClick}
      className="flex min-h-10 cursor-pointer items-center gap-2.5 rounded-lg px-2.5 outline-none data-highlighted:bg-sunken"
    >
      <Icon name={icon} className="size-4 text-muted" />
      {children}
    </Menu.Item>
  );
}

function useSignOut(): () => void {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return () =>
    void signOut().then(
      async () => {
        await navigate({ to: "/sign-in" });
        queryClient.clear(); // the next one must not see what this one saw
        sessionLost.set(false);
      },
      () => say("Could not sign you out. Try again.", "bad"),
    );
}
