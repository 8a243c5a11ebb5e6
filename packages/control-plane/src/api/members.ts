import { AppError, memberOperations } from "@vocalhost/protocol";
import { toTime } from "@vocalhost/base/to-time";
import type { Principal } from "../identity/principal.ts";
import { changeRole, listMembers, removeMember, type Role } from "../identity/members.ts";
import { originOf } from "./admit-request.ts";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

export function handleMembers({ store, clock, people }: ApiPorts): Handled[] {
  const roleOf = async (organizationId: Principal["organizationId"], userId: string) =>
    (await listMembers(store.db, organizationId)).find((member) => member.userId === userId)?.role;
  return handle(memberOperations)({
    list: async ({ organizationId }) => {
      const members = await listMembers(store.db, organizationId);
      const invitations = await people.invitationsOf(organizationId);
      return {
        members: await Promise.all(
          members.map(async ({ userId, role, createdAt }) => {
            const email = (await people.userOf(userId))?.email;
            return { userId, ...(email ? { email } : {}), role, createdAt: toTime(createdAt) };
          }),
        ),
        invitations: invitations.map((each) => ({ ...each, expiresAt: toTime(each.expiresAt) })),
      };
    },
    invite: async ({ organizationId, principal, body, actor, request }) => {
      requireOwnerFor(principal, [body.role]);
      const { id, token, expiresAt } = await people.invite(organizationId, { ...body, actor });
      return { id, link: `${originOf(request)}/owner#${token}`, expiresAt: toTime(expiresAt) };
    },
    cancelInvitation: async ({ organizationId, params, actor }) => {
      await people.cancelInvitation(organizationId, { id: params.invitationId, actor });
      return { status: "OK" };
    },
    change: async ({ organizationId, principal, params, body, actor }) => {
      requireOwnerFor(principal, [body.role, await roleOf(organizationId, params.userId)]);
      const change = { actor, nowMs: clock.nowMs() };
      await changeRole(store, organizationId, { userId: params.userId, role: body.role }, change);
      return { status: "OK" };
    },
    remove: async ({ organizationId, principal, params, actor }) => {
      requireOwnerFor(principal, [await roleOf(organizationId, params.userId)]);
      await removeMember(store, organizationId, params.userId, { actor, nowMs: clock.nowMs() });
      return { status: "OK" };
    },
  });
}

/** Without this check, every admin and every key an admin creates could make owners. */
function requireOwnerFor(principal: Principal, roles: (Role | undefined)[]): void {
  if (!roles.includes("owner") || (principal.kind === "user" && principal.role === "owner")) return;
  throw new AppError("ACCESS_DENIED", { message: "Only an owner may do this" });
}
