import { AuditList, AuditQuery, OrganizationList, UserAnswer } from "@vocalhost/protocol";
import { toTime } from "../agents/manifest.ts";
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
    defineOperation({
      id: "listAudit",
      tag,
      summary: "Who changed what, newest first",
      method: "GET",
      path: "/audit",
      right: "view",
      query: AuditQuery,
      answers: { 200: AuditList },
      run: async ({ organizationId, query }) => {
        const rows = store.db.selectFrom("audit").where("organizationId", "=", organizationId);
        const entries = await rows
          .selectAll()
          .orderBy("at", "desc")
          .orderBy("id", "desc")
          .limit(query.limit)
          .offset(query.offset)
          .execute();
        const { total } = await rows
          .select((select) => select.fn.countAll<number>().as("total"))
          .executeTakeFirstOrThrow();
        return {
          total,
          entries: entries.map(({ id, at, actor, action, target, details }) => ({
            id,
            at: toTime(at),
            actor,
            action,
            target,
            details: JSON.parse(details) as unknown,
          })),
        };
      },
    }),
  ];
}
