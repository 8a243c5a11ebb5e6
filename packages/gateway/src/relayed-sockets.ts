import { GOING_AWAY, relaySocket, type RelayedSocket, type RelaySocketOptions } from "./relay-socket.ts";

/** All calls relayed by this gateway. */
export interface RelayedSockets extends AsyncDisposable {
  readonly size: number;
  relay(options: RelaySocketOptions): RelayedSocket;
}

/** Periodically disconnects stuck or silent peers. On disposal, open calls may finish. */
export function createRelayedSockets({ disposeMs }: { disposeMs: number }): RelayedSockets {
  const relayed = new Set<RelayedSocket>();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const socket of relayed) socket.check(nowMs);
  }, LOOK_ROUND_MS);
  timer.unref();

  return {
    get size() {
      return relayed.size;
    },
    relay(options) {
      const socket = relaySocket(options);
      relayed.add(socket);
      void socket.ended.then(() => relayed.delete(socket));
      return socket;
    },
    async [Symbol.asyncDispose]() {
      const allEnded = Promise.all([...relayed].map(({ ended }) => ended));
      await atMost(allEnded, disposeMs);
      for (const socket of relayed) socket.finish(GOING_AWAY);
      await allEnded;
      clearInterval(timer);
    },
  };
}

const LOOK_ROUND_MS = 500;

function atMost(work: Promise<unknown>, timeoutMs: number): Promise<unknown> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
