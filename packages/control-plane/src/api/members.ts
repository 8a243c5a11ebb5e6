import { AppError, ChangeMember, Done, InviteMember, MemberInvited, MemberList } from "@vocalhost/protocol";
import { z } from "zod";
import { toTime } from "@vocalhost/base/to-time";
import type { Principal } from "../identity/principal.ts";
import { changeRole, listMembers, removeMember, type Role } from "../identity/members.ts";
import { originOf } from "./admit-request.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

const tag = "Members";
const MemberParams = z.object({ userId: z.string() });
const InvitationParams = z.object({ invitationId: z.string() });

export function memberOperations({ store, clock, people }: ApiPorts): Operation[] {
  const roleOf = async (organizationId: Principal["organizationId"], userId: string) =>
    (await listMembers(store.db, organizationId)).find((member) => member.userId === userId)?.role;
  return [
    defineOperation({
      id: "listMembers",
      tag,
      summary: "Who belongs to the organisation, and who is invited",
      method: "GET",
      path: "/members",
      right: "view",
      answers: { 200: MemberList },
      run: async ({ organizationId }) => {
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
    }),
    defineOperation({
      id: "inviteMember",
      tag,
      summary: "Make a link for a new member; this answer is the only place where it is shown",
      method: "POST",
      path: "/members/invitations",
      right: "manage",
      body: InviteMember,
      answers: { 200: MemberInvited },
      run: async ({ organizationId, principal, body, actor, request }) => {
        requireOwnerFor(principal, [body.role]);
        const { id, token, expiresAt } = await people.invite(organizationId, { ...body, actor });
        return { id, link: `${originOf(request)}/owner#${token}`, expiresAt: toTime(expiresAt) };
      },
    }),
    defineOperation({
      id: "cancelInvitation",
      tag,
      summary: "Make an invitation's link useless",
      method: "DELETE",
      path: "/members/invitations/:invitationId",
      right: "manage",
      params: InvitationParams,
      answers: { 200: Done },
      run: async ({ organizationId, params, actor }) => {
        await people.cancelInvitation(organizationId, { id: params.invitationId, actor });
        return { status: "OK" };
      },
    }),
    defineOperation({
      id: "changeMember",
      tag,
      summary: "Give a member another role",
      method: "PATCH",
      path: "/members/:userId",
      right: "manage",
      params: MemberParams,
      body: ChangeMember,
      answers: { 200: Done },
      run: async ({ organizationId, principal, params, body, actor }) => {
        requireOwnerFor(principal, [body.role, await roleOf(organizationId, params.userId)]);
        const change = { actor, nowMs: clock.nowMs() };
        await changeRole(store, organizationId, { userId: params.userId, role: body.role }, change);
        return { status: "OK" };
      },
    }),
    defineOperation({
      id: "removeMember",
      tag,
      summary: "Remove a member; the account stays",
      method: "DELETE",
      path: "/members/:userId",
      right: "manage",
      params: MemberParams,
      answers: { 200: Done },
      run: async ({ organizationId, principal, params, actor }) => {
        requireOwnerFor(principal, [await roleOf(organizationId, params.userId)]);
        await removeMember(store, organizationId, params.userId, { actor, nowMs: clock.nowMs() });
        return { status: "OK" };
      },
    }),
  ];
}

/** Or every admin, and every key an admin can make, would be an owner. */
function requireOwnerFor(principal: Principal, roles: (Role | undefined)[]): void {
  if (!roles.includes("owner") || (principal.kind === "user" && principal.role === "owner")) return;
  throw new AppError("ACCESS_DENIED", { message: "Only an owner may do this" });
}
