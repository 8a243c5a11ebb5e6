import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Key, KeyCreated } from "@vocalhost/protocol";
import { useState } from "react";
import { Button } from "../../shared/button.tsx";
import { Disclosure } from "../../shared/disclosure.tsx";
import { useMayChange } from "../data/me.ts";
import { api } from "../data/api.ts";
import { queries } from "../data/queries.ts";
import { Card } from "../ui/card.tsx";
import { CopyText } from "../ui/copy-text.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Empty } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { Ago, When } from "../ui/time.tsx";
import { say } from "../ui/toast.tsx";
import { CreateKeyDialog, type KeyKind } from "./create-key-dialog.tsx";
import { KEYS_PER_KIND } from "./key-form.ts";
import { ShownOnce } from "./shown-once.tsx";

const about: Record<KeyKind, string> = {
  private:
    "For your own servers, CI and the command line: anyone who has one can do everything except start sessions.",
  public: "For apps and pages: anyone who has one can start and join sessions, nothing else.",
};

export function KeysPage() {
  const keys = useQuery(queries.keys());
  const mayChange = useMayChange();
  const [creating, setCreating] = useState<KeyKind>();
  const [created, setCreated] = useState<KeyCreated & { kind: KeyKind; name: string }>();
  return (
    <Page title="API Keys" about="Requests carry a key as a bearer token; the key decides what they may do.">
      {created && (
        <ShownOnce
          title={`Your new ${created.kind} key “${created.name}”`}
          value={created.key}
          onDone={() => setCreated(undefined)}
        >
          {created.kind === "private"
            ? "Copy it now: it is not stored and cannot be shown again. A lost key has to be replaced."
            : "Copy it into your page. Members who may manage keys can copy it from the list again."}
        </ShownOnce>
      )}
      <QueryView query={keys} what="keys">
        {(lists) =>
          (["private", "public"] as const).map((kind) => (
            <Keys
              key={kind}
              kind={kind}
              keys={lists[kind]}
              {...(mayChange ? { onCreate: () => setCreating(kind) } : {})}
            />
          ))
        }
      </QueryView>
      {(["private", "public"] as const).map((kind) => (
        <CreateKeyDialog
          key={kind}
          kind={kind}
          open={creating === kind}
          onClose={() => setCreating(undefined)}
          onCreated={setCreated}
        />
      ))}
    </Page>
  );
}

function Keys({ kind, keys, onCreate }: { kind: KeyKind; keys: Key[]; onCreate?: () => void }) {
  const [revoking, setRevoking] = useState<Key>();
  const queryClient = useQueryClient();
  const usable = keys.filter(isUsable);
  const past = keys.filter((key) => !isUsable(key));
  const isFull = usable.length >= KEYS_PER_KIND;
  const title = kind === "private" ? "Private" : "Public";
  const columns = [...columnsOf(kind), ...(onCreate ? [revokeColumn(setRevoking)] : [])];
  return (
    <Card
      title={title}
      about={about[kind]}
      flush
      actions={
        onCreate && (
          <Button size="small" look="primary" icon="plus" disabled={isFull} onClick={onCreate}>
            Create key
          </Button>
        )
      }
      footer={
        <span className="text-sm text-muted">
          {usable.length} of {KEYS_PER_KIND} {kind} keys in use.
          {isFull && " This is the limit for an organisation: revoke one to create another."}
        </span>
      }
    >
      {usable.length === 0 ? (
        <Empty icon="key" title={`No ${kind} keys`}>
          {about[kind]}
        </Empty>
      ) : (
        <Table caption={`${title} keys`} columns={columns} rows={usable} rowKey={({ id }) => id} />
      )}
      {past.length > 0 && (
        <div className="border-t border-line px-5 pb-2">
          <Disclosure title="Revoked and expired" note={past.length}>
            <ul className="grid gap-1 text-sm text-muted">
              {past.map((key) => (
                <li key={key.id}>
                  {key.metadata.name || "Unnamed"} <code className="font-mono">{maskedKey(key.key)}</code>,{" "}
                  {key.revoked ? "revoked" : "expired"}
                </li>
              ))}
            </ul>
          </Disclosure>
        </div>
      )}
      <ConfirmDialog
        open={revoking !== undefined}
        title={`Revoke “${revoking?.metadata.name ?? ""}”?`}
        action="Revoke key"
        danger
        onClose={() => setRevoking(undefined)}
        onConfirm={async () => {
          if (revoking) await api().keys.revoke(revoking.id);
          say("Key revoked.");
          await queryClient.invalidateQueries({ queryKey: queries.keys().queryKey });
        }}
      >
        Requests with {maskedKey(revoking?.key ?? "")} are refused within a second. Running sessions continue.
        This cannot be undone.
      </ConfirmDialog>
    </Card>
  );
}

function columnsOf(kind: KeyKind): Column<Key>[] {
  return [
    {
      header: "Name",
      cell: (key) => (
        <>
          <span className="font-medium [overflow-wrap:anywhere]">{key.metadata.name || "Unnamed"}</span>
          <span className="block text-muted md:hidden">
            <KeyText text={key.key} />
          </span>
        </>
      ),
    },
    { header: "Key", wideOnly: true, cell: (key) => <KeyText text={key.key} /> },
    ...(kind === "public"
      ? [
          {
            header: "May start",
            wideOnly: true,
            cell: (key: Key) => <span className="text-muted">{toLimits(key)}</span>,
          },
        ]
      : []),
    {
      header: "Created",
      wideOnly: true,
      cell: (key) => (
        <span className="text-muted">
          <When time={key.createdAt} />
        </span>
      ),
    },
    {
      header: "Last used",
      cell: (key) => (
        <span className="text-muted">{key.lastUsedAt ? <Ago time={key.lastUsedAt} /> : "Never"}</span>
      ),
    },
  ];
}

/** Its beginning and end; one that was sent whole can be copied. */
function KeyText({ text }: { text: string }) {
  const shown = maskedKey(text);
  if (shown !== text) return <CopyText text={text} shown={shown} label="key" />;
  return <code className="font-mono text-[0.8125rem] whitespace-nowrap">{text}</code>;
}

function maskedKey(text: string): string {
  return text.includes("…") ? text : `${text.slice(0, 3)}…${text.slice(-4)}`;
}

function revokeColumn(onRevoke: (key: Key) => void): Column<Key> {
  return {
    header: "Actions",
    hiddenHeader: true,
    align: "right",
    narrow: true,
    cell: (key) => (
      <Button
        size="small"
        look="danger"
        aria-label={`Revoke ${key.metadata.name}`}
        onClick={() => onRevoke(key)}
      >
        Revoke
      </Button>
    ),
  };
}

function toLimits({ agents, ratePerMinute, concurrency }: Key): string {
  const limits = [
    agents === null ? "All agents" : agents.join(", ") || "No agent",
    ratePerMinute === null ? "" : `${ratePerMinute} a minute`,
    concurrency === null ? "" : `${concurrency} at once`,
  ];
  return limits.filter(Boolean).join(" · ");
}

function isUsable({ revoked, expiresAt }: Key): boolean {
  return !revoked && (expiresAt === null || Date.parse(expiresAt) > Date.now());
}
