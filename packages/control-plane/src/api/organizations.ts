import { OrganizationList, UserAnswer } from "@vocalhost/protocol";
import { actorOf } from "../auth/principal.ts";
import { organizationsOf, readOrganization } from "../organizations/organizations.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

const tag = "Organisation";

export function organizationOperations({ store }: ApiPorts): Operation[] {
  return [
    defineOperation({
      id: "listOrganizations",
      tag,
      summary: "Organisations the caller belongs to",
      method: "GET",
      path: "/organizations",
      alias: null,
      right: "view",
      answers: { 200: OrganizationList },
      run: async ({ principal }) => {
        if (principal.kind === "key") {
          const { name, verboseName } = await readOrganization(store.db, principal.organizationId);
          return { organizations: [{ name, verboseName }] };
        }
        const rows = await organizationsOf(store.db, principal.userId);
        return { organizations: rows.map(({ name, verboseName, role }) => ({ name, verboseName, role })) };
      },
    }),
    defineOperation({
      id: "getUser",
      tag,
      summary: "Who is asking",
      method: "GET",
      path: "/users",
      alias: null,
      right: "view",
      answers: { 200: UserAnswer },
      run: async ({ principal }) => ({
        user:
          principal.kind === "user"
            ? { userId: principal.userId, emails: [{ emailAddress: principal.email }] }
            : { userId: actorOf(principal), emails: [] },
      }),
    }),
  ];
}
