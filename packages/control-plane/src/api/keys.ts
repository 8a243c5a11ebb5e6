import { keyOperations, type Key } from "@vocalhost/protocol";
import { toTime } from "@vocalhost/base/to-time";
import { hasRight } from "../identity/admission.ts";
import type { ListedKey } from "../identity/api-keys.ts";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

export function handleKeys({ apiKeys }: ApiPorts): Handled[] {
  return handle(keyOperations)({
    list: async ({ organizationId, principal }) => {
      const keys = await apiKeys.list(organizationId);
      const showsPublic = hasRight(principal, "manage");
      const ofKind = (kind: ListedKey["kind"]) =>
        keys.filter((key) => key.kind === kind).map((key) => toKey(key, showsPublic));
      return { public: ofKind("public"), private: ofKind("private") };
    },
    create: async ({ organizationId, body, actor }) => {
      const { type, expiresAt, ...input } = body;
      const expiry = typeof expiresAt === "string" ? { expiresAt: Date.parse(expiresAt) } : {};
      const { id, value } = await apiKeys.create(organizationId, { ...input, kind: type, ...expiry }, actor);
      return { id, key: value };
    },
    rotate: async ({ organizationId, params, body, actor }) => {
      const options = { overlapMs: body.overlapSeconds * 1000, actor };
      const { id, value } = await apiKeys.rotate(organizationId, params.keyId, options);
      return { id, key: value };
    },
    revoke: async ({ organizationId, params, actor }) => {
      await apiKeys.revoke(organizationId, params.keyId, actor);
      return { status: "OK" };
    },
  });
}

function toKey(key: ListedKey, showsPublic: boolean): Key {
  return {
    id: key.id,
    key: (showsPublic ? key.publicValue : null) ?? key.masked,
    createdAt: toTime(key.createdAt),
    revoked: key.revokedAt !== null,
    metadata: { name: key.name },
    agents: key.agents,
    ratePerMinute: key.ratePerMinute,
    concurrency: key.concurrency,
    expiresAt: key.expiresAt === null ? null : toTime(key.expiresAt),
    lastUsedAt: key.lastUsedAt === null ? null : toTime(key.lastUsedAt),
  };
}
