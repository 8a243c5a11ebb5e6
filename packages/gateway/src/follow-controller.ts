import { parseJson } from "@vocalhost/protocol";
import type { IncomingMessage } from "node:http";
import { Agent, request, type RequestOptions } from "node:https";
import { createInterface } from "node:readline";
import type { PeerAddress } from "@vocalhost/base/peers/peer-config";
import type { PeerCredentials } from "@vocalhost/base/peers/peer-credentials";
import { peerNames } from "@vocalhost/base/peers/peer-names";
import { ControllerRole, ROLE_EVERY_MS } from "@vocalhost/base/peers/controller-api";
import type { ControllerDoor } from "./controllers.ts";
import type { GatewayLog } from "./gateway-options.ts";

/** A controller on the network, and the role it reports. */
export interface FollowedController extends ControllerDoor, Disposable {
  /** Undefined while it is unreachable. */
  readonly role: ControllerRole | undefined;
}

export interface FollowOptions {
  address: PeerAddress;
  credentials: PeerCredentials;
  log: GatewayLog;
  changed(): void;
  /** Returns whether requests wait for a leader. */
  isUrgent(): boolean;
}

const FREE_SOCKETS_MAX = 64;
const SILENT_MS = 5 * ROLE_EVERY_MS;
const AGAIN_MS = { urgent: 100, else: 1_000 };

export function followController(options: FollowOptions): FollowedController {
  const { address, credentials, log } = options;
  const ending = new AbortController();
  let agent = newAgent();
  let role: ControllerRole | undefined;
  let lastProblem = "";
  let timer: NodeJS.Timeout | undefined;

  function tls(): RequestOptions {
    const { ca, cert, key } = credentials.current;
    return { ca, cert, key, servername: peerNames.controller, minVersion: "TLSv1.3", ...address };
  }

  function setRole(told: ControllerRole | undefined): void {
    const isNews = told?.leads !== role?.leads || told?.epoch !== role?.epoch;
    role = told;
    if (!isNews) return;
    log.info({ ...address, role: told }, told ? "controller found" : "controller lost");
    options.changed();
  }

  function follow(): void {
    const asked = request({
      ...tls(),
      agent: false,
      path: "/internal/role",
      headers: { host: "controller" },
      signal: ending.signal,
    });
    let silence: NodeJS.Timeout | undefined;
    const heard = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => {
        // The controller may hang or its machine may be gone, so a silent connection is closed.
        asked.destroy(new Error("It has fallen silent"));
        agent.destroy();
        agent = newAgent();
      }, SILENT_MS);
    };
    heard();
    asked.on("error", (error) => say(error.message));
    asked.once("response", (response) => listen(response, heard));
    asked.once("close", () => {
      clearTimeout(silence);
      setRole(undefined);
      if (!ending.signal.aborted)
        timer = setTimeout(follow, options.isUrgent() ? AGAIN_MS.urgent : AGAIN_MS.else);
    });
    asked.end();
  }

  function listen(response: IncomingMessage, heard: () => void): void {
    if (response.statusCode !== 200) {
      say(`It answered with ${response.statusCode}`);
      return void response.destroy();
    }
    const lines = createInterface({ input: response });
    for (const each of [response, lines]) each.on("error", () => undefined); // the request's "close" reports the same
    lines.on("line", (line) => {
      heard();
      lastProblem = "";
      const told = ControllerRole.safeParse(parseJson(line));
      if (told.success) setRole(told.data);
    });
  }

  function say(problem: string): void {
    if (problem === lastProblem || ending.signal.aborted) return;
    lastProblem = problem;
    log.warn({ ...address, problem }, "controller cannot be reached");
  }

  follow();
  return {
    get role() {
      return role;
    },
    request: (wanted) => request({ ...wanted, ...tls(), agent }),
    [Symbol.dispose]() {
      ending.abort();
      clearTimeout(timer);
      agent.destroy();
    },
  };
}

function newAgent(): Agent {
  return new Agent({ keepAlive: true, maxFreeSockets: FREE_SOCKETS_MAX });
}
