import { Agent, request, type ClientRequest, type RequestOptions } from "node:http";
import { connect } from "node:net";

/** The controllers a gateway knows; picks the one for a request. */
export interface Controllers extends Disposable {
  /** Undefined while no controller could answer. */
  pick(needs: Needs): ControllerDoor | undefined;
  /** Resolves when a retry may succeed, at the latest after this long. */
  changed(timeoutMs: number): Promise<void>;
}

/** `leader`: for changes. `any`: every controller that reads the store can answer. */
export type Needs = "leader" | "any";

export interface ControllerDoor {
  request(options: RequestOptions): ClientRequest;
}

const FREE_SOCKETS_MAX = 64;
const LOOK_AGAIN_MS = 50;

/** The controller of this machine, which may be unreachable for a moment. */
export function createLocalController(socketPath: string): Controllers {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: FREE_SOCKETS_MAX });
  const door: ControllerDoor = { request: (options) => request({ ...options, socketPath, agent }) };
  const waiting = createWaiting();
  let looking = false;

  // One probe serves all waiting requests, so that they do not flood a controller that is starting.
  function look(): void {
    looking = waiting.size > 0;
    if (!looking) return;
    const probe = connect(socketPath);
    const settle = (isBack: boolean): void => {
      probe.destroy();
      if (!isBack) return void setTimeout(look, LOOK_AGAIN_MS);
      looking = false;
      waiting.wake();
    };
    probe.once("connect", () => settle(true));
    probe.once("error", () => settle(false));
  }

  return {
    pick: () => door,
    changed(timeoutMs) {
      const woken = waiting.wait(timeoutMs);
      if (!looking) look();
      return woken;
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** Requests that wait for a change. */
export interface Waiting {
  readonly size: number;
  wait(timeoutMs: number): Promise<void>;
  wake(): void;
}

export function createWaiting(): Waiting {
  const waiting = new Set<() => void>();
  return {
    get size() {
      return waiting.size;
    },
    wait(timeoutMs) {
      return new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, timeoutMs);
        waiting.add(wake);
      });
    },
    wake() {
      for (const wake of [...waiting]) wake();
    },
  };
}
