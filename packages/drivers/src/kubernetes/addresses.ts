import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { PORT_INSIDE } from "../instance-environment.ts";

/** The addresses of instances, as they reported them or as the driver found by connecting. */
export interface Addresses extends Disposable {
  get(id: string): string | undefined;
  /** Takes the address that an instance has reported. */
  told(id: string, address: string): void;
  /** Takes the address that the node has reported, and connects to it until the instance listens. */
  seen(id: string, ip: string): void;
  drop(id: string): void;
  keepOnly(ids: ReadonlySet<string>): void;
}

const KNOCK_MS = 1_000;
const AGAIN_FIRST_MS = 50;
const AGAIN_MAX_MS = 1_000;

export function createAddresses({ found }: { found(): void }): Addresses {
  const closing = new AbortController();
  const known = new Map<string, string>();
  const knocking = new Map<string, string>();

  async function knock(id: string, ip: string): Promise<void> {
    const isWanted = (): boolean => knocking.get(id) === ip && !closing.signal.aborted;
    for (let againMs = AGAIN_FIRST_MS; isWanted(); againMs = Math.min(againMs * 1.5, AGAIN_MAX_MS)) {
      if ((await isListening(ip)) && isWanted()) {
        known.set(id, addressOf(ip));
        knocking.delete(id);
        return found();
      }
      await pause(againMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
    }
  }

  function drop(id: string): void {
    known.delete(id);
    knocking.delete(id);
  }

  return {
    get: (id) => known.get(id),
    told(id, address) {
      knocking.delete(id);
      known.set(id, address);
      found();
    },
    seen(id, ip) {
      const address = known.get(id);
      if (address === addressOf(ip) || knocking.get(id) === ip) return;
      known.delete(id); // the node's report is right
      knocking.set(id, ip);
      void knock(id, ip);
    },
    drop,
    keepOnly(ids) {
      for (const id of [...known.keys(), ...knocking.keys()]) if (!ids.has(id)) drop(id);
    },
    [Symbol.dispose]: () => closing.abort(),
  };
}

export function addressOf(ip: string): string {
  return ip.includes(":") ? `[${ip}]:${PORT_INSIDE}` : `${ip}:${PORT_INSIDE}`;
}

async function isListening(host: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port: PORT_INSIDE, timeout: KNOCK_MS });
  socket.on("connect", () => resolve(true));
  socket.on("timeout", () => resolve(false));
  socket.on("error", () => resolve(false));
  const answer = await promise;
  socket.destroy();
  return answer;
}
