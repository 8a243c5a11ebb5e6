import { once } from "node:events";
import { createServer } from "node:net";
import { Problem } from "../problem.ts";
import { readProject } from "../project/read-project.ts";
import { failed, ok, reasonOf, warning, type Hop } from "./hop.ts";
import { askStun } from "./stun.ts";

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
