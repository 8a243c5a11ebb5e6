import { CreateKey, Done, KeyCreated, KeyList, RotateKey, type Key } from "@vocalhost/protocol";
import { z } from "zod";
import { toTime } from "@vocalhost/base/to-time";
import { hasRight } from "../identity/admission.ts";
import type { ListedKey } from "../identity/api-keys.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

const tag = "Keys";
const KeyParams = z.object({ keyId: z.string() });

export function keyOperations({ apiKeys }: ApiPorts): Operation[] {
  return [
    defineOperation({
      id: "listKeys",
      tag,
      summary: "Keys; public ones whole for those who may manage them, all others masked",
      method: "GET",
      path: "/keys",
      alias: "/apiKeys",
      right: "view",
      answers: { 200: KeyList },
      run: async ({ organizationId, principal }) => {
        const keys = await apiKeys.list(organizationId);
        const showsPublic = hasRight(principal, "manage");
        const ofKind = (kind: ListedKey["kind"]) =>
          keys.filter((key) => key.kind === kind).map((key) => toKey(key, showsPublic));
        return { public: ofKind("public"), private: ofKind("private") };
      },
    }),
    defineOperation({
      id: "createKey",
      tag,
      summary: "Make a key; a private one is shown in this answer only",
      method: "POST",
      path: "/keys",
      alias: "/apiKeys",
      right: "manage",
      body: CreateKey,
      answers: { 200: KeyCreated },
      run: async ({ organizationId, body, actor }) => {
        const { type, expiresAt, ...input } = body;
        const expiry = typeof expiresAt === "string" ? { expiresAt: Date.parse(expiresAt) } : {};
        const { id, value } = await apiKeys.create(
          organizationId,
          { ...input, kind: type, ...expiry },
          actor,
        );
        return { id, key: value };
      },
    }),
    defineOperation({
      id: "rotateKey",
      tag,
      summary: "Make a key with the same rights; the old one works on for a while",
      method: "POST",
      path: "/keys/:keyId/rotate",
      alias: "/apiKeys/:keyId/rotate",
      right: "manage",
      params: KeyParams,
      body: RotateKey,
      answers: { 200: KeyCreated },
      run: async ({ organizationId, params, body, actor }) => {
        const options = { overlapMs: body.overlapSeconds * 1000, actor };
        const { id, value } = await apiKeys.rotate(organizationId, params.keyId, options);
        return { id, key: value };
      },
    }),
    defineOperation({
      id: "revokeKey",
      tag,
      summary: "Revoke a key; its record stays",
      method: "DELETE",
      path: "/keys/:keyId",
      alias: "/apiKeys/:keyId",
      right: "manage",
      params: KeyParams,
      answers: { 200: Done },
      run: async ({ organizationId, params, actor }) => {
        await apiKeys.revoke(organizationId, params.keyId, actor);
        return { status: "OK" };
      },
    }),
  ];
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
