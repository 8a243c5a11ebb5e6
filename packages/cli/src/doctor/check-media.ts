import { createApiClient, readStunAnswer, stunRequest, type MediaProbe } from "@vocalhost/protocol";
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Credentials } from "../credentials/find-credentials.ts";
import { toBaseUrl } from "../service/explain.ts";
import { createServiceFetch } from "../service/open-service.ts";
import { failed, ok, reasonOf, skipped, warning, type Hop } from "./hop.ts";

const DOCS = "docs/hosted/media.md";

/** Whether WebRTC audio can get from here to a bot of the service: asks at the address and port that callers are told. */
export async function checkMedia(credentials: Credentials, signal: AbortSignal): Promise<Hop> {
  const { token, apiUrl } = credentials;
  if (token === undefined) return skipped("media", "not checked until you are signed in");
  const api = createApiClient({ baseUrl: toBaseUrl(apiUrl), token, fetch: createServiceFetch({ signal }) });
  try {
    return await judge(await api.probeMedia(), signal);
  } catch (error) {
    signal.throwIfAborted();
    return skipped("media", `the service does not say where its calls come in: ${reasonOf(error)}`);
  }
}

async function judge(probe: MediaProbe, signal: AbortSignal): Promise<Hop> {
  const { addresses, ports, port } = probe;
  if (!ports)
    return ok(
      "media",
      `WebRTC calls use any UDP port of the service; to name them: VOCALHOST_MEDIA_PORTS (${DOCS})`,
    );
  const range = `UDP ${ports.first}-${ports.last}`;
  if (port === null)
    return warning(
      "media",
      `not checked: every port of ${range} is in use, so further calls are refused`,
      "Widen VOCALHOST_MEDIA_PORTS: an instance needs one, also while it waits.",
    );
  if (addresses.length === 0)
    return warning(
      "media",
      `calls come in at ${range} of the service's own addresses, which are not known here`,
      "Behind NAT or in containers, say the public one: VOCALHOST_MEDIA_ADDRESS.",
    );
  return askAll(probe, { port, range, signal });
}

async function askAll(
  { addresses, answeredBy }: MediaProbe,
  { port, range, signal }: { port: number; range: string; signal: AbortSignal },
): Promise<Hop> {
  const who = answeredBy === "instance" ? "an instance" : "the service";
  const asked = await Promise.all(
    addresses.map(async (host) => ({
      host,
      seen: await askStun({ host, port }, signal).catch(() => undefined),
    })),
  );
  signal.throwIfAborted();
  const silent = asked.filter(({ seen }) => seen === undefined).map(({ host }) => `${host}:${port}`);
  if (silent.length > 0)
    return failed(
      "media",
      `no answer from ${silent.join(", ")} over UDP, where ${who} listens: callers there will hear nothing`,
      `Open ${range} in the firewall, and forward it if there is NAT in between.`,
      "Check that VOCALHOST_MEDIA_ADDRESS is the address the world sees.",
      `Where that cannot be: a TURN server (${DOCS}).`,
    );
  const shown = asked
    .map(({ host, seen }) => `${host}:${port}, which sees this machine as ${seen}`)
    .join("; ");
  if (addresses.every(isOurs))
    return ok(
      "media",
      `${who} answers at ${shown}; from this machine only: run doctor elsewhere to prove the rest`,
    );
  return ok("media", `${who} answers at ${shown}`);
}

function isOurs(address: string): boolean {
  return Object.values(networkInterfaces()).some((each) => each?.some((own) => own.address === address));
}

const RESEND_MS = 500;
const ATTEMPTS = 5;

/** Asks a STUN server how it sees us, as `203.0.113.7:5000`; undefined when nothing comes back. */
export async function askStun(
  server: { host: string; port: number },
  signal: AbortSignal,
): Promise<string | undefined> {
  const socket = createSocket(isIPv6(server.host) ? "udp6" : "udp4");
  const transaction = randomBytes(12);
  const { promise: answer, resolve, reject } = Promise.withResolvers<string>();
  socket.on("error", reject);
  socket.on("message", (message) => {
    const seen = readStunAnswer(message, transaction);
    if (seen) resolve(`${seen.address}:${seen.port}`);
  });
  answer.catch(() => undefined);
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      socket.send(stunRequest(transaction), server.port, server.host, (error) => error && reject(error));
      const address = await Promise.race([answer, sleep(RESEND_MS, undefined, { signal })]);
      if (address !== undefined) return address;
    }
    return undefined;
  } finally {
    socket.close();
  }
}
