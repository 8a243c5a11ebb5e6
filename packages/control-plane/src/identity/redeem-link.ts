import { AppError } from "@vocalhost/protocol";
import { z } from "zod";
import type { Clock } from "@vocalhost/base/clock";
import type { Store } from "@vocalhost/store/store";
import type { SignedInUser } from "./admission.ts";
import { PASSWORD_LENGTH } from "./auth-library.ts";
import type { AuthLibrary } from "./auth-library.ts";
import { findLink, takeLink } from "./links.ts";
import { addMember } from "./members.ts";
import type { OrganizationId } from "./principal.ts";

export const Redemption = z.object({
  token: z.string().max(100),
  email: z
    .string()
    .trim()
    .toLowerCase()
    .max(254)
    .regex(/^[^\s@]+@[^\s@]+$/, "This is not an e-mail address"),
  password: z.string().min(PASSWORD_LENGTH.min).max(PASSWORD_LENGTH.max),
  name: z.string().trim().max(100).optional(),
});
export type Redemption = z.infer<typeof Redemption>;

export interface RedeemContext {
  store: Store;
  clock: Clock;
  library: AuthLibrary;
}

/** Makes the holder of a link a member, creating the account if needed, and uses up the link. */
export async function redeemLink(context: RedeemContext, redemption: Redemption): Promise<SignedInUser> {
  const { store, clock, library } = context;
  const { token, email } = redemption;
  const link = await findLink(store.db, token, clock.nowMs());
  if (!link || (link.email !== null && link.email !== email)) throw invalidLink();
  const { user, isNew } = await bringAccount(context, redemption);
  try {
    await store.transaction(async (tx) => {
      const nowMs = clock.nowMs();
      // Only the first taker succeeds; the account created for another one is removed.
      const taken = await takeLink(tx, token, nowMs);
      if (!taken) throw invalidLink();
      const organizationId = taken.organizationId as OrganizationId;
      const actor = `user:${user.userId}`;
      await addMember(tx, organizationId, { userId: user.userId, role: taken.role }, { actor, nowMs });
    });
  } catch (error) {
    if (isNew) await library.deleteUser(user.userId);
    throw error;
  }
  return user;
}

async function bringAccount(
  { store, library }: RedeemContext,
  { email, password, name }: Redemption,
): Promise<{ user: SignedInUser; isNew: boolean }> {
  const known = await library.findUser(email);
  if (!known)
    return { user: await library.createUser({ email, password, name: name ?? email }), isNew: true };
  if (await library.isPassword(known.userId, password)) return { user: known, isNew: false };
  const membership = await store.db
    .selectFrom("members")
    .select("userId")
    .where("userId", "=", known.userId)
    .executeTakeFirst();
  // A link must not open a member's existing account. An account that belongs to no member is left by an interrupted
  // attempt.
  if (membership)
    throw new AppError("UNAUTHORIZED", { message: "There is an account with another password" });
  await library.setPassword(known.userId, password);
  return { user: known, isNew: false };
}

function invalidLink(): AppError {
  return new AppError("TOKEN_INVALID", { message: "This link has been used or has expired" });
}
