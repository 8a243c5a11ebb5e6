import type { AuditEntry } from "@vocalhost/protocol";

/** "created agent" is followed by what it was done to. */
export interface AuditWords {
  did: string;
  what: string;
  /** Where it can be seen, if it may still exist. */
  to?: { page: "/agents/$name"; name: string } | { page: SettingsPage };
  /** More about it, after the sentence. */
  more?: string;
}

type SettingsPage = "/settings/keys" | "/settings/secrets" | "/settings/members" | "/settings/regions";

/** Words for each action, for sentences and for the filter. */
export const auditActions: Record<string, string> = {
  "agent-created": "created agent",
  "agent-deployed": "deployed agent",
  "agent-scaled": "changed the scaling of agent",
  "agent-rolled-back": "rolled back agent",
  "agent-deleted": "deleted agent",
  "build-created": "started build",
  "upload-created": "uploaded files for a build as",
  "session-stopped": "stopped session",
  "secrets-created": "created secret set",
  "secrets-changed": "changed secret set",
  "secrets-key-deleted": "deleted a key of secret set",
  "secrets-deleted": "deleted secret set",
  "key-created": "created API key",
  "key-rotated": "rotated API key",
  "key-revoked": "revoked API key",
  "key-deleted": "deleted API key",
  "member-invited": "invited",
  "invitation-cancelled": "cancelled the invitation of",
  "member-added": "added member",
  "member-changed": "changed the role of",
  "member-removed": "removed member",
  "organization-created": "created the organisation",
  "properties-changed": "changed the organisation's settings",
};

/** Names of people and keys by `user:{id}` and `key:{id}`. */
export type Names = ReadonlyMap<string, string>;

export function toActor(actor: string, names: Names): string {
  if (actor === "system") return "The service";
  const known = names.get(actor);
  const [kind = "", id = ""] = actor.split(":");
  if (kind === "key") return known === undefined ? `A deleted key (${id.slice(0, 8)})` : `Key “${known}”`;
  return known ?? `A former member (${id.slice(0, 8)})`;
}

export function toWords({ action, target, details }: AuditEntry, names: Names): AuditWords {
  const told = (typeof details === "object" && details !== null ? details : {}) as Record<string, unknown>;
  const did = auditActions[action] ?? action.replaceAll("-", " ");
  const colon = target.indexOf(":");
  const kind = target.slice(0, Math.max(colon, 0));
  const id = target.slice(colon + 1);
  const name = typeof told["name"] === "string" ? told["name"] : undefined;
  switch (kind) {
    case "agent":
      return {
        did,
        what: name ?? id,
        ...(name === undefined || action === "agent-deleted" ? {} : { to: { page: "/agents/$name", name } }),
        ...more(told, ["minAgents", "maxAgents", "region"]),
      };
    case "key":
      return { did, what: names.get(target) ?? name ?? id.slice(0, 8), to: { page: "/settings/keys" } };
    case "secrets":
      return { did, what: id, to: { page: "/settings/secrets" }, ...more(told, ["region", "fields"]) };
    case "user":
    case "email":
      return {
        did,
        what: names.get(target) ?? (kind === "email" ? id : `former member ${id.slice(0, 8)}`),
        to: { page: "/settings/members" },
        ...more(told, ["role", "from", "to"]),
      };
    case "organization":
      return { did, what: name ?? "", ...more(told, ["defaultRegion"]) };
    default:
      return { did, what: id.slice(0, 8) };
  }
}

function more(details: Record<string, unknown>, keys: string[]): { more?: string } {
  const parts = keys.flatMap((key) => {
    const value = details[key];
    if (typeof value === "string" || typeof value === "number") return [`${key} ${value}`];
    return Array.isArray(value) ? [`${key} ${value.join(", ")}`] : [];
  });
  return parts.length === 0 ? {} : { more: parts.join(", ") };
}
