import {
  AppError,
  CreateOrganization,
  OrganizationCreated,
  OrganizationList,
  UserAnswer,
} from "@vocalhost/protocol";
import { actorOf } from "../identity/principal.ts";
import {
  foundOrganization,
  organizationsOf,
  readOrganization,
} from "../identity/organizations/organizations.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

const tag = "Organisation";

export function organizationOperations({ store, clock }: ApiPorts): Operation[] {
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
      id: "createOrganization",
      tag,
      summary: "Make another organisation, and its owner whoever asks; for owners of the first one",
      method: "POST",
      path: "/organizations",
      alias: null,
      right: "found",
      body: CreateOrganization,
      answers: { 201: OrganizationCreated },
      refusals: [409],
      wording: { unauthorizedText: "Sign in to create an organisation: a key belongs to one" },
      run: async ({ principal, body, actor, reply }) => {
        if (principal.kind !== "user") throw new AppError("UNAUTHORIZED");
        const { userId } = principal;
        await foundOrganization(store, body, { userId, actor, nowMs: clock.nowMs() });
        reply.code(201);
        return { name: body.name, verboseName: body.verboseName ?? body.name };
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
