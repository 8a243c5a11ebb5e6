import { createApiClient, type ApiClient } from "@vocalhost/protocol";
import { chosenOrganization } from "./session.ts";

const ANSWER_MS = 20_000; // longer than the gateway waits for the controller

/** A client for the signed-in account and the chosen organisation. */
export function api(): ApiClient {
  const organization = chosenOrganization.get();
  return createApiClient({
    baseUrl: `${location.origin}/v1`,
    fetch: fetchWithin,
    ...(organization === "" ? {} : { organization }),
  });
}

/** The same without an organisation: who am I, which organisations are there. */
export function personalApi(): ApiClient {
  return createApiClient({ baseUrl: `${location.origin}/v1`, fetch: fetchWithin });
}

/** Nothing waits without an end, except what is meant to last: event streams and uploads. */
const fetchWithin: typeof fetch = (input, init) => {
  const accept = new Headers(init?.headers).get("accept");
  if (accept === "text/event-stream" || init?.body instanceof FormData) return fetch(input, init);
  const late = AbortSignal.timeout(ANSWER_MS);
  const signal = init?.signal ? AbortSignal.any([init.signal, late]) : late;
  return fetch(input, { ...init, signal });
};
