import type { ApiClient, CarrierName, SwitchFilter } from "@vocalhost/protocol";
import type { CommandContext } from "../define-command.ts";
import { Problem } from "../problem.ts";
import { createServiceFetch, openPublicService, openService } from "./open-service.ts";

/** A service whose agents can be called, and looked at. */
export interface CallableService {
  /** With the private key. */
  api: ApiClient;
  apiUrl: string;
  /** A phone call that waits for its socket. */
  prepare(agent: string, carrier: CarrierName): Promise<{ sessionId: string; url: string }>;
  /** Lets a session's bot hear everything; false while no filter is attached. */
  bypass(agent: string, sessionId: string): Promise<boolean>;
}

export async function openCallableService(
  publicKey: string | undefined,
  context: CommandContext,
): Promise<CallableService> {
  const { api } = await openService({ organization: undefined }, context);
  const { apiUrl, token } = await openPublicService(publicKey, context);
  const fetch = createServiceFetch(context);
  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(`${apiUrl}/public/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  return {
    api,
    apiUrl,
    async prepare(agent, carrier) {
      const answer = await post(`${encodeURIComponent(agent)}/start`, { transport: carrier });
      const sessionId = answer.headers.get("x-vocalhost-session-id");
      const said = (await answer.json().catch(() => ({}))) as {
        wsUrl?: string;
        token?: string;
        error?: string;
      };
      if (!answer.ok || said.wsUrl === undefined || sessionId === null)
        throw new Problem("start_refused", `No call to '${agent}' could be started`, {
          why: said.error ?? `The service answered ${answer.status}.`,
          fixes: [`See how it is: vocalhost agent status ${agent}`],
        });
      const url = new URL(said.wsUrl);
      if (said.token) url.pathname = `${url.pathname.replace(/\/$/, "")}/${encodeURIComponent(said.token)}`;
      return { sessionId, url: url.href };
    },
    async bypass(agent, sessionId) {
      const path = `${encodeURIComponent(agent)}/sessions/${sessionId}/api/voice-filter`;
      const answer = await post(path, { isBypassed: true } satisfies SwitchFilter).catch(() => undefined);
      await answer?.body?.cancel();
      return answer?.ok === true;
    },
  };
}
