import { EngineAddressError, engineSockets, type EngineSocket } from "@vocalhost/images";
import { stat } from "node:fs/promises";
import { request } from "node:http";
import { homedir } from "node:os";
import { z } from "zod";
import { bridgesOf, type NetworkPoliciesFacts } from "../operate/network-policy.ts";
import type { OperateOptions } from "../operate/operate-options.ts";
import { askProgram } from "../operate/operations.ts";
import { failed, ok, reasonOf, skipped, warning, type Hop } from "./hop.ts";

interface CheckEngineOptions {
  environment: Record<string, string | undefined>;
  /** @default where engines usually listen, unless the environment names one */
  sockets?: EngineSocket[];
}

const ENGINE_MS = 5_000;
const ANSWER_MAX_BYTES = 64 * 1024;
const START = "Start it, and give the service's user access to its socket.";
const Version = z.object({
  Version: z.string(),
  Components: z.array(z.object({ Name: z.string() })).default([]),
});
const Info = z.object({ LiveRestoreEnabled: z.boolean().optional() });

/** Docker or Podman, as the service finds it when it runs bots in containers. */
export async function checkEngine(options: CheckEngineOptions, signal: AbortSignal): Promise<Hop> {
  const settings = containerSettings(options.environment);
  const isNeeded = settings !== undefined;
  const complain = isNeeded ? failed : warning;
  try {
    for (const socket of options.sockets ?? engineSockets(settings ?? options.environment, homedir()))
      if ((await stat(socket.path).catch(() => undefined))?.isSocket()) return await look(socket);
  } catch (error) {
    if (error instanceof EngineAddressError) return complain("engine", error.message);
    throw error;
  }
  return isNeeded
    ? failed(
        "engine",
        "VOCALHOST_DRIVER=container, and neither Docker nor Podman is here",
        "Install one, or name its socket: VOCALHOST_CONTAINER_ENGINE=unix:///run/podman/podman.sock",
      )
    : ok("engine", "no Docker or Podman here; not needed, bots run as processes");

  async function look({ path, because }: EngineSocket): Promise<Hop> {
    try {
      const { Version: version, Components } = Version.parse(await ask(path, "/version", signal));
      const name = Components.some((part) => /podman/i.test(part.Name)) ? "Podman" : "Docker";
      const says = `${name} ${version} answers at ${path}${because === name ? "" : ` (${reasonFor(because)})`}`;
      const { LiveRestoreEnabled } = Info.parse(await ask(path, "/info", signal));
      if (isNeeded && name === "Docker" && LiveRestoreEnabled === false)
        return warning(
          "engine",
          `${says}; when it restarts, every call ends`,
          'Set "live-restore": true in /etc/docker/daemon.json.',
        );
      return ok("engine", says);
    } catch (error) {
      signal.throwIfAborted();
      return complain(
        "engine",
        `${path} (${reasonFor(because)}) does not respond: ${reasonOf(error)}`,
        START,
      );
    }
  }
}

function reasonFor(because: string): string {
  return /^[A-Z_]+$/.test(because) ? because : `where ${because} usually listens`;
}

async function ask(socketPath: string, path: string, signal: AbortSignal): Promise<unknown> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ENGINE_MS)]);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const question = request({ socketPath, path, signal: limit }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (text.length > ANSWER_MAX_BYTES) response.destroy(new Error("it says more than an engine does"));
    });
    response.once("error", reject);
    response.once("end", () =>
      response.statusCode === 200 ? resolve(text) : reject(new Error(`it answered ${response.statusCode}`)),
    );
  });
  question.once("error", (error) =>
    reject(limit.aborted && !signal.aborted ? new Error(`no answer within ${ENGINE_MS / 1000} s`) : error),
  );
  question.end();
  return JSON.parse(await promise);
}

/** Whether bots in containers are kept from this machine. */
export async function checkNetworkPolicy(
  options: OperateOptions,
  environment: Record<string, string | undefined>,
  signal: AbortSignal,
): Promise<Hop> {
  const { VOCALHOST_CONFIG: file = options.settings } = environment;
  if (!containerSettings(environment) && !file) return describeNetworkPolicies({ networkPolicies: [] });
  try {
    return describeNetworkPolicies(
      await askProgram<NetworkPoliciesFacts>({ words: ["network-policy", "state"], options }, { signal }),
    );
  } catch (error) {
    signal.throwIfAborted();
    return skipped("network-policy", reasonOf(error));
  }
}

export function describeNetworkPolicies({ networkPolicies }: NetworkPoliciesFacts): Hop {
  if (networkPolicies.length === 0)
    return skipped("network-policy", "bots run as processes, which have no network policy");
  const down = networkPolicies.filter(({ state }) => state === "down");
  if (down.length > 0)
    return warning(
      "network-policy",
      `bots behind ${bridgesOf(down)} reach this machine, private networks and each other`,
      "As root: vocalhost network-policy up",
      "Or load the rules yourself: vocalhost network-policy show | sudo nft -f -",
      "and: sudo sysctl -w net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1",
    );
  const unseen = networkPolicies.filter(({ state }) => state !== "up");
  const [first] = unseen;
  if (first)
    return warning(
      "network-policy",
      `whether bots behind ${bridgesOf(unseen)} are kept from this machine cannot be seen: ${first.state}`,
      `As root: vocalhost doctor, or nft list table inet ${first.table}. It should have what vocalhost network-policy show prints.`,
    );
  return ok(
    "network-policy",
    `bots behind ${bridgesOf(networkPolicies)} reach the internet, and nothing of this machine or each other`,
  );
}

type Environment = Record<string, string | undefined>;

/** Settings as the first region has them whose bots are in containers; undefined where none has. */
function containerSettings(environment: Environment): Environment | undefined {
  if (environment["VOCALHOST_DRIVER"] === "container") return environment;
  const own = Object.keys(environment).find(
    (name) => name.startsWith("VOCALHOST_DRIVER__") && environment[name] === "container",
  );
  if (own === undefined) return undefined;
  const suffix = own.slice("VOCALHOST_DRIVER".length);
  const engine = environment[`VOCALHOST_CONTAINER_ENGINE${suffix}`];
  return engine ? { ...environment, VOCALHOST_CONTAINER_ENGINE: engine } : environment;
}
