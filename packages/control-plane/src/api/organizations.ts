import { AppError, organizationOperations } from "@vocalhost/protocol";
import { actorOf } from "../identity/principal.ts";
import {
  foundOrganization,
  organizationsOf,
  readOrganization,
} from "../identity/organizations/organizations.ts";
import { readQuotas } from "../identity/quotas/read-quotas.ts";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

export function handleOrganizations({ store, clock, quotasOf }: ApiPorts): Handled[] {
  return handle(organizationOperations, {
    createOrganization: { unauthorizedText: "Sign in to create an organisation: a key belongs to one" },
  })({
    organizations: async ({ principal }) => {
      if (principal.kind === "key") {
        const { name, verboseName } = await readOrganization(store.db, principal.organizationId);
        return { organizations: [{ name, verboseName }] };
      }
      const rows = await organizationsOf(store.db, principal.userId);
      return { organizations: rows.map(({ name, verboseName, role }) => ({ name, verboseName, role })) };
    },
    createOrganization: async ({ principal, body, actor }) => {
      if (principal.kind !== "user") throw new AppError("UNAUTHORIZED");
      const { userId } = principal;
      await foundOrganization(store, body, { userId, actor, nowMs: clock.nowMs() });
      return { name: body.name, verboseName: body.verboseName ?? body.name };
    },
    user: async ({ principal }) => ({
      user:
        principal.kind === "user"
          ? { userId: principal.userId, emails: [{ emailAddress: principal.email }] }
          : { userId: actorOf(principal), emails: [] },
    }),
    quotas: async ({ organizationId }) =>
      readQuotas({ db: store.db, quotasOf }, await readOrganization(store.db, organizationId)),
  });
}
