import {
  Done,
  PutSecrets,
  SecretSet,
  SecretSetList,
  SecretSetName,
  SecretsStored,
} from "@vocalhost/protocol";
import { z } from "zod";
import { parseSecretPut } from "../secrets/secret-put.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

const tag = "Secrets";
const SetParams = z.object({ set: z.string() });

export function secretOperations({ secretSets }: ApiPorts): Operation[] {
  return [
    defineOperation({
      id: "listSecretSets",
      tag,
      summary: "Secret sets, without their values",
      method: "GET",
      path: "/secrets",
      right: "view",
      query: z.object({ region: z.string().max(63).optional() }),
      answers: { 200: SecretSetList },
      run: async ({ organizationId, query }) => ({ sets: await secretSets.list(organizationId, query) }),
    }),
    defineOperation({
      id: "getSecretSet",
      tag,
      summary: "Names of a set's keys",
      method: "GET",
      path: "/secrets/:set",
      right: "view",
      params: SetParams,
      answers: { 200: SecretSet },
      run: async ({ organizationId, params }) => secretSets.get(organizationId, params.set),
    }),
    defineOperation({
      id: "putSecrets",
      tag,
      summary: "Add or replace keys of a set, or set an image-pull secret",
      method: "PUT",
      path: "/secrets/:set",
      right: "manage",
      params: z.object({ set: SecretSetName }),
      body: PutSecrets,
      answers: { 202: SecretsStored },
      refusals: [409],
      wording: { invalidText: () => "Invalid request format" },
      run: async ({ organizationId, params, body, actor, reply }) => {
        const put = parseSecretPut(withoutNulls(body));
        const { region } = await secretSets.put(organizationId, params.set, { put, actor });
        reply.code(202);
        return { status: "OK", region };
      },
    }),
    defineOperation({
      id: "deleteSecretSet",
      tag,
      summary: "Delete a set",
      method: "DELETE",
      path: "/secrets/:set",
      right: "manage",
      params: SetParams,
      answers: { 200: Done },
      refusals: [409],
      run: async ({ organizationId, params, actor }) => {
        await secretSets.delete(organizationId, params.set, actor);
        return { status: "OK" };
      },
    }),
    defineOperation({
      id: "deleteSecret",
      tag,
      summary: "Delete one key of a set",
      method: "DELETE",
      path: "/secrets/:set/:secretKey",
      right: "manage",
      params: SetParams.extend({ secretKey: z.string() }),
      answers: { 200: Done },
      refusals: [409],
      run: async ({ organizationId, params, actor }) => {
        await secretSets.deleteKey(organizationId, params.set, { fieldName: params.secretKey, actor });
        return { status: "OK" };
      },
    }),
  ];
}

function withoutNulls(body: PutSecrets): object {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
