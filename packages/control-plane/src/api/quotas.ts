import { QuotaList } from "@vocalhost/protocol";
import { readOrganization } from "../identity/organizations/organizations.ts";
import { readQuotas } from "../identity/quotas/read-quotas.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

export function quotaOperations({ store, quotasOf }: ApiPorts): Operation[] {
  return [
    defineOperation({
      id: "getQuotas",
      tag: "Organisation",
      summary: "What the organisation has of what it may have",
      method: "GET",
      path: "/quotas",
      right: "view",
      answers: { 200: QuotaList },
      run: async ({ organizationId }) =>
        readQuotas({ db: store.db, quotasOf }, await readOrganization(store.db, organizationId)),
    }),
  ];
}
