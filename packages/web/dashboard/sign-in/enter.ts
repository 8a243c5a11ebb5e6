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
