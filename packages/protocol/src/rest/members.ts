import { z } from "zod";
import { operations } from "./operation.ts";
import { Done, Time } from "./values.ts";

export const Role = z.enum(["owner", "admin", "viewer"]);
export type Role = z.infer<typeof Role>;

export const Member = z.object({
  userId: z.string(),
  /** Absent when the account is gone. */
  email: z.string().optional(),
  role: Role,
  createdAt: Time,
});
export type Member = z.infer<typeof Member>;

/** Its link was shown once, to the member who made it. */
export const MemberInvitation = z.object({ id: z.string(), email: z.string(), role: Role, expiresAt: Time });
export type MemberInvitation = z.infer<typeof MemberInvitation>;

export const MemberList = z.object({ members: z.array(Member), invitations: z.array(MemberInvitation) });
export type MemberList = z.infer<typeof MemberList>;

export const InviteMember = z.object({ email: z.string().min(3).max(254), role: Role });
export type InviteMember = z.infer<typeof InviteMember>;

/** `link` is shown only in this answer. The person who opens it with that address becomes a member. */
export const MemberInvited = z.object({ id: z.string(), link: z.string(), expiresAt: Time });
export type MemberInvited = z.infer<typeof MemberInvited>;

export const ChangeMember = z.object({ role: Role });
export type ChangeMember = z.infer<typeof ChangeMember>;

export const memberOperations = operations("Members", {
  list: {
    id: "listMembers",
    summary: "Who belongs to the organisation, and who is invited",
    method: "GET",
    path: "/members",
    right: "view",
    answer: MemberList,
  },
  invite: {
    id: "inviteMember",
    summary: "Make a link for a new member; this answer is the only place where it is shown",
    method: "POST",
    path: "/members/invitations",
    right: "manage",
    body: InviteMember,
    answer: MemberInvited,
  },
  cancelInvitation: {
    id: "cancelInvitation",
    summary: "Make an invitation's link useless",
    method: "DELETE",
    path: "/members/invitations/:invitationId",
    right: "manage",
    answer: Done,
  },
  change: {
    id: "changeMember",
    summary: "Give a member another role",
    method: "PATCH",
    path: "/members/:userId",
    right: "manage",
    body: ChangeMember,
    answer: Done,
  },
  remove: {
    id: "removeMember",
    summary: "Remove a member; the account stays",
    method: "DELETE",
    path: "/members/:userId",
    right: "manage",
    answer: Done,
  },
});
