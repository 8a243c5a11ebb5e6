import { type PutSecrets, secretOperations } from "@vocalhost/protocol";
import { parseSecretPut } from "../secrets/secret-put.ts";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

export function handleSecrets({ secretSets }: ApiPorts): Handled[] {
  return handle(secretOperations, { put: { invalidText: () => "Invalid request format" } })({
    list: async ({ organizationId, query }) => ({ sets: await secretSets.list(organizationId, query) }),
    get: async ({ organizationId, params }) => secretSets.get(organizationId, params.set),
    put: async ({ organizationId, params, body, actor }) => {
      const put = parseSecretPut(withoutNulls(body));
      const { region } = await secretSets.put(organizationId, params.set, { put, actor });
      return { status: "OK", region };
    },
    delete: async ({ organizationId, params, actor }) => {
      await secretSets.delete(organizationId, params.set, actor);
      return { status: "OK" };
    },
    deleteKey: async ({ organizationId, params, actor }) => {
      await secretSets.deleteKey(organizationId, params.set, { fieldName: params.secretKey, actor });
      return { status: "OK" };
    },
  });
}

function withoutNulls(body: PutSecrets): object {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
