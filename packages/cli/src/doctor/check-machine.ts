import { createApiClient, type Isolation } from "@vocalhost/protocol";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Credentials } from "../credentials/find-credentials.ts";
import type { OperateOptions } from "../operate/operate-options.ts";
import { askProgram } from "../operate/operations.ts";
import { Problem } from "../problem.ts";
import { readProject } from "../project/read-project.ts";
import { toBaseUrl } from "../service/explain.ts";
import { createServiceFetch } from "../service/open-service.ts";
import { askStun } from "./check-media.ts";
import { failed, ok, reasonOf, skipped, warning, type Hop } from "./hop.ts";

const DEV_PORT = 7860;
const DEFAULT_STUN = "stun:stun.l.google.com:19302";

export async function checkProject(workingFolder: string): Promise<Hop> {
  try {
    const { path, config } = await readProject(workingFolder);
    if (path === undefined) return ok("project", "no vocalhost.toml here; commands need the agent's name");
    return ok(
      "project",
      `vocalhost.toml is in order${config.agent_name === undefined ? "" : `, agent '${config.agent_name}'`}`,
    );
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return failed("project", error.message, ...error.fixes);
  }
}

/** The port of `vocalhost dev`. */
export async function checkDevPort(port = DEV_PORT): Promise<Hop> {
  const server = createServer();
  try {
    server.listen(port, "localhost");
    await once(server, "listening");
    server.close();
    return ok("ports", `${port} is free for vocalhost dev`);
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
    if (isTaken)
      return warning(
        "ports",
        `${port} is in use: a bot of yours, or another program`,
        `Run the bot elsewhere: vocalhost dev --port ${port + 1}`,
      );
    return failed("ports", `Cannot listen on ${port}: ${reasonOf(error)}`, "Choose a port above 1024.");
  }
}

/** Whether UDP comes back from the servers that tell callers their public address. */
export async function checkIce(
  options: { iceServers: string | undefined; isLocal: boolean },
  signal: AbortSignal,
): Promise<Hop> {
  const servers = stunServers(options.iceServers);
  if (!Array.isArray(servers))
    return failed("ice", servers, 'For example: [{"urls":["stun:stun.example.com"]}].');
  const [server] = servers;
  if (!server) return warning("ice", "only TURN servers are configured; they are not checked");
  const shown = `${server.host}:${server.port}`;
  const fixes = ["Open outgoing UDP, or use a TURN server: VOCALHOST_TURN_URLS (docs/hosted/media.md)."];
  const seen = await askStun(server, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    return { reason: reasonOf(error) };
  });
  if (typeof seen === "string") return ok("ice", `${shown} sees this machine as ${seen}`);
  const why = seen === undefined ? `no response from ${shown} over UDP` : `${shown}: ${seen.reason}`;
  if (options.isLocal) return warning("ice", `${why}; calls on this machine work without it`, ...fixes);
  return failed("ice", `${why}: callers behind a router cannot connect`, ...fixes);
}

/** A sentence when they cannot be read. */
function stunServers(text: string | undefined): { host: string; port: number }[] | string {
  let urls: string[];
  try {
    const servers =
      text === undefined ? [{ urls: DEFAULT_STUN }] : (JSON.parse(text) as { urls: string | string[] }[]);
    urls = servers.flatMap((server) => server.urls);
  } catch {
    return "VOCALHOST_ICE_SERVERS is not JSON";
  }
  return urls.flatMap((url) => {
    const [, host, port] = /^stun:([^:?]+)(?::(\d+))?/.exec(url) ?? [];
    return host === undefined ? [] : [{ host, port: Number(port ?? 3478) }];
  });
}

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

interface Checked {
  store: { file: string; problem: string | null } | null;
}

/** Checks that the SQLite file of the service on this machine is whole. */
export async function checkDatabase(options: OperateOptions, signal: AbortSignal): Promise<Hop> {
  try {
    const { store } = await askProgram<Checked>({ words: ["check-store"], options }, { signal });
    if (!store) return skipped("database", "there is no SQLite file here");
    const { file, problem } = store;
    if (problem === null) return ok("database", `${file} is whole`);
    const fix = "Stop the service, move the file away and restore the newest backup: vocalhost restore";
    return failed("database", `${file} is damaged: ${problem}`, fix);
  } catch (error) {
    signal.throwIfAborted();
    return skipped("database", `the database could not be checked: ${reasonOf(error)}`);
  }
}

/** The answer of the service's own program about its data folder; `space` is null if there is none. */
interface DiskFigures {
  dataFolder: string;
  space: { freeBytes: number; totalBytes: number } | null;
  areas?: Record<string, number>;
}

const LOW_SHARE = 0.1;
const LOW_BYTES = 5 * 1024 ** 3; // a large disk is not low at 10 % of it
const FULL_BYTES = 256 * 1024 ** 2; // less than one build may take

/** The disk of the service on this machine: what is left of it, and what the data folder takes. */
export async function checkDisk(options: OperateOptions, signal: AbortSignal): Promise<Hop> {
  try {
    return describeDisk(await askProgram<DiskFigures>({ words: ["disk"], options }, { signal }));
  } catch (error) {
    signal.throwIfAborted();
    return skipped("disk", `the data folder could not be measured: ${reasonOf(error)}`);
  }
}

export function describeDisk({ dataFolder, space, areas = {} }: DiskFigures): Hop {
  if (!space) return skipped("disk", `no service keeps its data in ${dataFolder}`);
  const { freeBytes, totalBytes } = space;
  const taken = Object.entries(areas)
    .filter(([, bytes]) => bytes > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([area, bytes]) => `${area} ${shown(bytes)}`);
  const says = `${shown(freeBytes)} of ${shown(totalBytes)} free; ${dataFolder}: ${taken.join(", ") || "empty"}`;
  const fixes = [
    "Free space or enlarge the disk. On a full disk the service refuses starts and deployments.",
    "Keep less: VOCALHOST_DEBRIS_RETENTION_DAYS, VOCALHOST_LOG_RETENTION_DAYS.",
  ];
  if (freeBytes < FULL_BYTES) return failed("disk", says, ...fixes);
  if (freeBytes < Math.min(totalBytes * LOW_SHARE, LOW_BYTES)) return warning("disk", says, ...fixes);
  return ok("disk", says);
}

function shown(bytes: number): string {
  if (bytes >= 1024 ** 3) return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
