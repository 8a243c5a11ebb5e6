import type { InstanceStart, InstanceStatus, InstanceStop } from "@vocalhost/protocol";
import { Agent } from "node:http";
import type { Clock } from "@vocalhost/base/clock";
import type { Log } from "@vocalhost/base/log";
import { askInstance, splitAddress } from "./ask-instance.ts";
import { openEar, type Ear } from "./ear.ts";
import { InstanceCallError, type InstanceNetwork, type InstanceTarget } from "./instance-network.ts";

export interface HttpInstanceNetworkOptions {
  tokenOf(instanceId: string): string;
  clock: Clock;
  heartbeatMs: number;
  log: Log;
  /** Something new was heard of an instance. */
  heard(instanceId: string): void;
}

const STOP_TIMEOUT_MS = 5_000;
const IDLE_MS = 60_000; // an instance closes what is idle for longer

/**
 * Speaks with instances over HTTP. It keeps one event stream open to each that is watched, and a connection over which
 * the start goes to each that waits for one: whoever starts a session does not wait for a connection as well.
 */
export function openHttpInstanceNetwork(options: HttpInstanceNetworkOptions): InstanceNetwork & Disposable {
  const agent = new Agent({ keepAlive: true, maxSockets: 8, timeout: IDLE_MS });
  const over = new AbortController();
  const ears = new Map<string, Ear>();

  async function command(
    target: InstanceTarget,
    path: string,
    body: object,
    timeoutMs: number,
  ): Promise<void> {
    const token = options.tokenOf(target.id);
    const { status, text } = await askInstance({
      ...{ target, path, body, timeoutMs, agent, token },
      over: over.signal,
    });
    if (status >= 200 && status < 300) return;
    throw new InstanceCallError(`The instance answered ${status}: ${text.slice(0, 200)}`, "refused");
  }

  function isConnected({ address }: InstanceTarget): boolean {
    const [host, port] = splitAddress(address);
    const name = agent.getName({ host, port });
    return [agent.sockets, agent.freeSockets].some((sockets) => (sockets[name]?.length ?? 0) > 0);
  }

  function listen(target: InstanceTarget): Ear {
    const token = options.tokenOf(target.id);
    const { heartbeatMs, clock } = options;
    let notBeforeMs = -Infinity; // however often it speaks and hangs up
    function connectAhead({ ready, session }: InstanceStatus): void {
      if (!ready || session || isConnected(target) || clock.monotonicMs() < notBeforeMs) return;
      notBeforeMs = clock.monotonicMs() + heartbeatMs;
      const question = { target, path: "/instance", token, timeoutMs: heartbeatMs, agent, over: over.signal };
      askInstance(question).catch(() => undefined); // a start says why
    }
    return openEar(target, {
      ...options,
      token,
      spoke: connectAhead,
      heard: () => options.heard(target.id),
    });
  }

  return {
    start: (target, request: InstanceStart, timeoutMs) =>
      command(target, "/instance/start", request, timeoutMs),
    stop: (target, request: InstanceStop) => command(target, "/instance/stop", request, STOP_TIMEOUT_MS),
    watch(targets) {
      const wanted = new Map(targets.map((target) => [target.id, target]));
      for (const [id, ear] of ears) {
        if (wanted.get(id)?.address === ear.target.address) continue;
        ear.close();
        ears.delete(id);
      }
      for (const target of targets) if (!ears.has(target.id)) ears.set(target.id, listen(target));
    },
    report: (instanceId) => ears.get(instanceId)?.report(),
    missed: (instanceId) => ears.get(instanceId)?.missed() ?? 0,
    [Symbol.dispose]() {
      for (const ear of ears.values()) ear.close();
      ears.clear();
      over.abort("over");
      agent.destroy();
    },
  };
}
