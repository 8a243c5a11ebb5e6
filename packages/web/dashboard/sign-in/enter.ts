import { queryClient } from "../data/query-client.ts";
import { sessionLost } from "../data/session.ts";
import { isSignedIn } from "./auth-requests.ts";

/** The service said yes, but the browser kept nothing of it. */
export class CookieRefusedError extends Error {
  override readonly name = "CookieRefusedError";
}

/** Forgets whatever an earlier person saw, and makes sure that the next request is theirs. */
export async function enter(): Promise<void> {
  if (!(await isSignedIn())) throw new CookieRefusedError();
  queryClient.clear();
  sessionLost.set(false);
}

/** The page the visitor wanted before signing in; always one of this site. */
export function nextAddress(search: string): string {
  const next = new URLSearchParams(search).get("next")?.replace(/^"|"$/g, "") ?? "";
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(next) && !next.startsWith("/sign-in") ? next : "/agents";
}
