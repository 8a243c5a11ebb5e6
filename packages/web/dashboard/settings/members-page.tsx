import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Member, MemberInvitation, MemberInvited } from "@vocalhost/protocol";
import { useState } from "react";
import { Button } from "../../shared/button.tsx";
import { api } from "../data/api.ts";
import { useMayChange, useMe, type Me } from "../data/me.ts";
import { queries } from "../data/queries.ts";
import { Badge } from "../ui/badge.tsx";
import { Card } from "../ui/card.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Failed } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { When } from "../ui/time.tsx";
import { say } from "../ui/toast.tsx";
import { InviteDialog, RoleSelect } from "./invite-dialog.tsx";
import { ShownOnce } from "./shown-once.tsx";

export function MembersPage() {
  const members = useQuery(queries.members());
  const mayChange = useMayChange();
  const [inviting, setInviting] = useState(false);
  const [invited, setInvited] = useState<MemberInvited & { email: string }>();
  return (
    <Page
      title="Members"
      about="Who has access, and with which role."
      actions={
        mayChange && (
          <Button size="small" look="primary" icon="plus" onClick={() => setInviting(true)}>
            Invite
          </Button>
        )
      }
    >
      {invited && (
        <ShownOnce
          title={`Invitation for ${invited.email}`}
          value={invited.link}
          onDone={() => setInvited(undefined)}
        >
          Send this link to {invited.email}: no e-mail is sent from here, and the link cannot be shown again.
          It works once, within seven days, and only with that address.
        </ShownOnce>
      )}
      <QueryView query={members} what="members">
        {(lists) => (
          <>
            <Members members={lists.members} />
            {lists.invitations.length > 0 && <Invitations invitations={lists.invitations} />}
          </>
        )}
      </QueryView>
      <InviteDialog open={inviting} onClose={() => setInviting(false)} onInvited={setInvited} />
    </Page>
  );
}

function Members({ members }: { members: Member[] }) {
  const me = useMe();
  const [removing, setRemoving] = useState<Member>();
  const refresh = useRefresh();
  const change = useMutation({
    mutationFn: ({ member, role }: { member: Member; role: Member["role"] }) =>
      api().members.change(member.userId, { role }),
    onSuccess: async (_answer, { member, role }) => {
      say(`${nameOf(member)} is now ${role}.`);
      await refresh();
    },
  });
  const columns = memberColumns({
    me,
    members,
    isChanging: change.isPending,
    onRole: (member, role) => change.mutate({ member, role }),
    onRemove: setRemoving,
  });
  return (
    <Card
      flush
      footer={
        <span className="text-sm text-muted">
          Viewers can look. Admins can change agents, keys and secrets. Owners can also appoint owners. An
          organisation always has at least one owner.
        </span>
      }
    >
      {change.error && (
        <div className="p-4">
          <Failed error={change.error} />
        </div>
      )}
      <Table caption="Members" columns={columns} rows={members} rowKey={({ userId }) => userId} />
      <RemoveDialog removing={removing} me={me} refresh={refresh} onClose={() => setRemoving(undefined)} />
    </Card>
  );
}

function useRefresh(): () => Promise<unknown> {
  const queryClient = useQueryClient();
  return () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: queries.members().queryKey }),
      queryClient.invalidateQueries({ queryKey: queries.organizations().queryKey }), // one's own role
    ]);
}

interface MemberColumnsOptions {
  me: Me;
  members: Member[];
  isChanging: boolean;
  onRole: (member: Member, role: Member["role"]) => void;
  onRemove: (member: Member) => void;
}

function memberColumns(options: MemberColumnsOptions): Column<Member>[] {
  const { me, members, isChanging, onRole, onRemove } = options;
  return [
    {
      header: "Member",
      cell: (member) => (
        <span className="font-medium [overflow-wrap:anywhere]">
          {nameOf(member)}
          {member.userId === me.userId && <span className="font-normal text-muted"> (you)</span>}
        </span>
      ),
    },
    {
      header: "Since",
      wideOnly: true,
      cell: ({ createdAt }) => (
        <span className="text-muted">
          <When time={createdAt} />
        </span>
      ),
    },
    {
      header: "Role",
      narrow: true,
      cell: (member) =>
        mayEdit(me, members, member) ? (
          <RoleSelect
            label={`Role of ${nameOf(member)}`}
            role={member.role}
            mayMakeOwner={me.role === "owner"}
            disabled={isChanging}
            onChange={(role) => onRole(member, role)}
          />
        ) : (
          <Badge tone="plain">{member.role}</Badge>
        ),
    },
    {
      header: "Actions",
      hiddenHeader: true,
      align: "right",
      narrow: true,
      cell: (member) =>
        mayEdit(me, members, member) && (
          <Button
            size="small"
            look="danger"
            aria-label={`Remove ${nameOf(member)}`}
            onClick={() => onRemove(member)}
          >
            Remove
          </Button>
        ),
    },
  ];
}

interface RemoveDialogProps {
  removing: Member | undefined;
  me: Me;
  refresh: () => Promise<unknown>;
  onClose: () => void;
}

function RemoveDialog({ removing, me, refresh, onClose }: RemoveDialogProps) {
  return (
    <ConfirmDialog
      open={removing !== undefined}
      title={`Remove ${removing ? nameOf(removing) : ""}?`}
      action="Remove member"
      danger
      onClose={onClose}
      onConfirm={async () => {
        if (removing) await api().members.remove(removing.userId);
        say("Member removed.");
        await refresh();
      }}
    >
      {removing?.userId === me.userId
        ? "You lose access to this organisation immediately. "
        : "Access to this organisation ends immediately. "}
      The account itself stays. Keys created by this member keep working: revoke them under API Keys.
    </ConfirmDialog>
  );
}

function Invitations({ invitations }: { invitations: MemberInvitation[] }) {
  const queryClient = useQueryClient();
  const mayChange = useMayChange();
  const cancel = useMutation({
    mutationFn: (id: string) => api().members.cancelInvitation(id),
    onSettled: () => queryClient.invalidateQueries({ queryKey: queries.members().queryKey }),
    onSuccess: () => say("The link no longer works."),
  });
  const columns: Column<MemberInvitation>[] = [
    { header: "Address", cell: ({ email }) => <span className="[overflow-wrap:anywhere]">{email}</span> },
    { header: "Role", cell: ({ role }) => <Badge tone="plain">{role}</Badge> },
    {
      header: "Valid until",
      wideOnly: true,
      cell: ({ expiresAt }) => (
        <span className="text-muted">
          <When time={expiresAt} />
        </span>
      ),
    },
    {
      header: "Actions",
      hiddenHeader: true,
      align: "right",
      narrow: true,
      cell: ({ id, email }) =>
        mayChange && (
          <Button
            size="small"
            disabled={cancel.isPending}
            aria-label={`Cancel the invitation of ${email}`}
            onClick={() => cancel.mutate(id)}
          >
            Cancel
          </Button>
        ),
    },
  ];
  return (
    <Card title="Invited" about="They become members when they open their link." flush>
      {cancel.error && (
        <div className="p-4">
          <Failed error={cancel.error} />
        </div>
      )}
      <Table caption="Invitations" columns={columns} rows={invitations} rowKey={({ id }) => id} />
    </Card>
  );
}

/** Mirrors the service's own check, which decides. */
function mayEdit(me: Me, members: Member[], member: Member): boolean {
  if (me.role === "viewer") return false;
  if (member.role !== "owner") return true;
  return me.role === "owner" && members.filter(({ role }) => role === "owner").length > 1;
}

function nameOf({ email, userId }: Member): string {
  return email ?? `Deleted account ${userId.slice(0, 8)}`;
}
