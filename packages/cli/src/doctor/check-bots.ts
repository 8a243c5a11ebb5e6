import { createApiClient, type Isolation } from "@vocalhost/protocol";
import type { Credentials } from "../credentials/find-credentials.ts";
import { toBaseUrl } from "../service/base-url.ts";
import { createServiceFetch } from "../service/service-fetch.ts";
import { ok, reasonOf, skipped, warning, type Hop } from "./hop.ts";

/** Tells if bots are kept from the service's keys and from each other, and what holds them to their memory. */
export async function checkBots({ token, apiUrl }: Credentials, signal: AbortSignal): Promise<Hop> {
  if (token === undefined) return skipped("bots", "not checked until you are signed in");
  const api = createApiClient({ baseUrl: toBaseUrl(apiUrl), token, fetch: createServiceFetch({ signal }) });
  try {
    return describeBots(await api.isolation());
  } catch (error) {
    signal.throwIfAborted();
    return skipped("bots", `the service does not say how they are kept apart: ${reasonOf(error)}`);
  }
}

export function describeBots({ processes }: Isolation): Hop {
  if (!processes) return ok("bots", "run in containers");
  const { users, why, memory } = processes;
  const held =
    memory === "control-groups"
      ? "control groups hold them to their memory"
      : "the service ends those that have more memory than their profile; with Delegate=yes in its unit control groups do (docs/hosted/server.md)";
  if (users) return ok("bots", `run as users ${users.first}-${users.last}, which nobody else has; ${held}`);
  return warning(
    "bots",
    `run as the service's own user (${why ?? "the service is not root"}) and can read its keys and other agents' secrets; ${held}`,
    "For other people's code use containers: VOCALHOST_DRIVER=container (docs/hosted/isolation.md)",
    "Or run the service as root, without VOCALHOST_BOT_UIDS=off: bots then have users of their own.",
  );
}
