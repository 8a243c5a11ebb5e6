import type { InstanceStart, InstanceStatus, InstanceStop } from "@vocalhost/protocol";
import { Agent } from "node:http";
import type { Clock } from "@vocalhost/base/clock";
import type { Log } from "@vocalhost/base/log";
import { askInstance, splitAddress } from "./ask-instance.ts";
import { HeartbeatListener } from "./heartbeat-listener.ts";
import { InstanceCallError, type InstanceNetwork, type InstanceTarget } from "./instance-network.ts";

export interface HttpInstanceNetworkOptions {
  tokenOf(instanceId: string): string;
  clock: Clock;
  heartbeatMs: number;
  log: Log;
  /** Called when an instance said something that the controller has to act on. */
  heard(instanceId: string): void;
}

const STOP_TIMEOUT_MS = 5_000;
const IDLE_MS = 60_000; // an instance closes a connection that is idle for longer

export function openHttpInstanceNetwork(options: HttpInstanceNetworkOptions): InstanceNetwork & Disposable {
  return new HttpInstanceNetwork(options);
}

/**
 * Speaks with instances over HTTP. It keeps an event stream open to each instance that is watched, and a connection to each
 * that waits for a session, so that a start need not open one first.
 */
class HttpInstanceNetwork implements InstanceNetwork, Disposable {
  readonly #options: HttpInstanceNetworkOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8, timeout: IDLE_MS });
  readonly #over = new AbortController();
  readonly #listeners = new Map<string, HeartbeatListener>();

  constructor(options: HttpInstanceNetworkOptions) {
    this.#options = options;
  }

  start(target: InstanceTarget, request: InstanceStart, timeoutMs: number): Promise<void> {
    return this.#command(target, { path: "/instance/start", body: request, timeoutMs });
  }

  stop(target: InstanceTarget, request: InstanceStop): Promise<void> {
    return this.#command(target, { path: "/instance/stop", body: request, timeoutMs: STOP_TIMEOUT_MS });
  }

  watch(targets: InstanceTarget[]): void {
    const wanted = new Map(targets.map((target) => [target.id, target]));
    for (const [id, listener] of this.#listeners) {
      if (wanted.get(id)?.address === listener.target.address) continue;
      listener.close();
      this.#listeners.delete(id);
    }
    for (const target of targets)
      if (!this.#listeners.has(target.id)) this.#listeners.set(target.id, this.#listenTo(target));
  }

  report(instanceId: string) {
    return this.#listeners.get(instanceId)?.report;
  }

  missed(instanceId: string): number {
    return this.#listeners.get(instanceId)?.missed ?? 0;
  }

  [Symbol.dispose](): void {
    for (const listener of this.#listeners.values()) listener.close();
    this.#listeners.clear();
    this.#over.abort("over");
    this.#agent.destroy();
  }

  async #command(
    target: InstanceTarget,
    { path, body, timeoutMs }: { path: string; body: object; timeoutMs: number },
  ): Promise<void> {
    const { status, text } = await askInstance({ target, path, body, timeoutMs, ...this.#wayTo(target) });
    if (status >= 200 && status < 300) return;
    throw new InstanceCallError(`The instance answered ${status}: ${text.slice(0, 200)}`, "refused");
  }

  #listenTo(target: InstanceTarget): HeartbeatListener {
    const { heartbeatMs, clock, log, heard } = this.#options;
    let notBeforeMs = -Infinity; // an instance may speak and hang up any number of times
    const connectAhead = ({ ready, session }: InstanceStatus): void => {
      if (!ready || session || this.#isConnected(target) || clock.monotonicMs() < notBeforeMs) return;
      notBeforeMs = clock.monotonicMs() + heartbeatMs;
      const question = { target, path: "/instance", timeoutMs: heartbeatMs, ...this.#wayTo(target) };
      askInstance(question).catch(() => undefined); // a start would say why
    };
    const { token } = this.#wayTo(target);
    return new HeartbeatListener(target, {
      ...{ token, clock, heartbeatMs, log },
      spoke: connectAhead,
      heard: () => heard(target.id),
    });
  }

  #wayTo({ id }: InstanceTarget): { token: string; agent: Agent; over: AbortSignal } {
    return { token: this.#options.tokenOf(id), agent: this.#agent, over: this.#over.signal };
  }

  #isConnected({ address }: InstanceTarget): boolean {
    const [host, port] = splitAddress(address);
    const name = this.#agent.getName({ host, port });
    const { sockets, freeSockets } = this.#agent;
    return [sockets, freeSockets].some((each) => (each[name]?.length ?? 0) > 0);
  }
}
