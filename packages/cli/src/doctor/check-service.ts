import { createApiClient, type ApiClient } from "@vocalhost/protocol";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect } from "node:net";
import type { Credentials } from "../credentials/find-credentials.ts";
import { toBaseUrl, toServiceUrl } from "../service/explain.ts";
import { createServiceFetch, isKey } from "../service/open-service.ts";
import { failed, ok, reasonOf, skipped, warning, type Hop } from "./hop.ts";

const CONNECT_MS = 5_000;
const ANSWER_MS = 10_000;
const SKEW_WARNING_S = 5;
const SKEW_MAX_S = 60; // socket tokens live for 300 s and start bodies are signed by the minute

/** Checks the connection to the service hop by hop. Hops behind a failed one cannot be checked. */
export async function checkService(credentials: Credentials, signal: AbortSignal): Promise<Hop[]> {
  const url = new URL(toServiceUrl(credentials.apiUrl));
  const names = ["address", "port", "gateway", "controller", "clock", "credentials"];
  const hops: Hop[] = [];
  const steps = [
    () => checkAddress(url),
    () => checkPort(url, signal),
    () => checkHealth(url, { name: "gateway", path: "/healthz", signal }),
    () => checkHealth(url, { name: "controller", path: "/readyz", signal }),
    () => checkClock(url, signal),
    () => checkCredentials(credentials, signal),
  ];
  for (const step of steps) {
    hops.push(await step());
    if (hops.at(-1)?.state === "failed") break;
  }
  const broken = hops.at(-1)?.name ?? "";
  return [
    ...hops,
    ...names.slice(hops.length).map((name) => skipped(name, `not checked until ${broken} is fixed`)),
  ];
}

/** The part of the host name that DNS knows. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

async function checkAddress(url: URL): Promise<Hop> {
  try {
    const { address } = await lookup(hostOf(url));
    return ok("address", address === hostOf(url) ? address : `${url.hostname} is ${address}`);
  } catch (error) {
    return failed(
      "address",
      `Host ${url.hostname} not found: ${reasonOf(error)}`,
      "Check VOCALHOST_API_URL, or sign in again: vocalhost auth login --url …",
    );
  }
}

async function checkPort(url: URL, signal: AbortSignal): Promise<Hop> {
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const socket = connect({ host: hostOf(url), port });
  try {
    await once(socket, "connect", { signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]) });
    return ok("port", `${port} accepts connections`);
  } catch (error) {
    signal.throwIfAborted();
    const isLate = error instanceof Error && error.name === "AbortError";
    const why = isLate ? `no answer within ${CONNECT_MS / 1000} s` : reasonOf(error);
    return failed(
      "port",
      `No connection to port ${port} of ${url.hostname}: ${why}`,
      isLate
        ? "There seems to be a firewall in between: open the port there."
        : "Is the service running? Start it with: vocalhost up",
    );
  } finally {
    socket.destroy();
  }
}

async function checkHealth(url: URL, hop: { name: string; path: string; signal: AbortSignal }): Promise<Hop> {
  const { name, path, signal } = hop;
  try {
    const response = await ask(new URL(path, url), signal);
    const text = await response.text();
    if (response.ok && text.startsWith("{")) return ok(name, `${path} answers ${response.status}`);
    return failed(
      name,
      `${path} answers ${response.status}`,
      name === "gateway"
        ? "Is this a Vocalhost service? Something else seems to listen there."
        : "The gateway runs, the controller behind it does not: check the service's log.",
    );
  } catch (error) {
    signal.throwIfAborted();
    return failed(
      name,
      `${path} does not respond: ${reasonOf(error)}`,
      "Is http:// or https:// right? Look at the log of the service.",
    );
  }
}

async function checkClock(url: URL, signal: AbortSignal): Promise<Hop> {
  const beforeMs = Date.now();
  const response = await ask(new URL("/healthz", url), signal);
  await response.body?.cancel();
  const theirs = Date.parse(response.headers.get("date") ?? "");
  if (Number.isNaN(theirs)) return warning("clock", "The service does not report its time");
  // The header has whole seconds, cut off.
  const skewS = Math.round((theirs + 500 - (beforeMs + Date.now()) / 2) / 1000);
  const text = `this machine and the service differ by ${Math.abs(skewS)} s`;
  const fix = "Synchronise both clocks: timedatectl set-ntp true";
  if (Math.abs(skewS) > SKEW_MAX_S) return failed("clock", `${text}: tokens may appear expired`, fix);
  return Math.abs(skewS) > SKEW_WARNING_S ? warning("clock", text, fix) : ok("clock", text);
}

async function checkCredentials(credentials: Credentials, signal: AbortSignal): Promise<Hop> {
  const { token, source } = credentials;
  if (token === undefined)
    return failed("credentials", "You are not signed in", "Sign in: vocalhost auth login");
  const from = source === "environment" ? "VOCALHOST_API_KEY" : "the credentials file";
  const api = createApiClient({
    baseUrl: toBaseUrl(credentials.apiUrl),
    token,
    fetch: createServiceFetch({ signal }),
  });
  try {
    return ok("credentials", await describeWho(api, isKey(token) ? "private key" : "sign-in", from));
  } catch (error) {
    signal.throwIfAborted();
    return failed(
      "credentials",
      `The credentials from ${from} were refused: ${reasonOf(error)}`,
      "Sign in again: vocalhost auth login",
    );
  }
}

async function describeWho(api: ApiClient, kind: string, from: string): Promise<string> {
  const [{ user }, { organizations }] = await Promise.all([api.user(), api.organizations()]);
  const who = user.emails[0]?.emailAddress ?? kind;
  return `${who} of ${organizations.map(({ name }) => name).join(", ") || "no organisation"}, from ${from}`;
}

function ask(url: URL, signal: AbortSignal): Promise<Response> {
  return fetch(url, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    redirect: "manual",
  });
}
