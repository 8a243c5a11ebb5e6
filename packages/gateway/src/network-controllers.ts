import { lookup } from "node:dns/promises";
import type { PeerAddress } from "@vocalhost/base/peers/peer-config";
import type { PeerCredentials } from "@vocalhost/base/peers/peer-credentials";
import { createWaiting, type Controllers, type Needs } from "./controllers.ts";
import type { GatewayLog } from "./gateway-options.ts";
import { followController, type FollowedController } from "./follow-controller.ts";

export interface NetworkControllersOptions {
  /** A name may resolve to several controllers, and to others later. */
  addresses: readonly PeerAddress[];
  credentials: PeerCredentials;
  log: GatewayLog;
}

const RESOLVE_AGAIN_MS = 5_000;

/** Follows the controllers of other machines. Each reports whether it leads; if two do, the newer epoch wins. */
export function openNetworkControllers({
  addresses,
  credentials,
  log,
}: NetworkControllersOptions): Controllers {
  const followed = new Map<string, FollowedController>();
  const waiting = createWaiting();
  let turn = 0;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;

  const present = (): FollowedController[] => [...followed.values()].filter(({ role }) => role !== undefined);
  function leader(): FollowedController | undefined {
    const leading = present().filter(({ role }) => role?.leads);
    return leading.toSorted((one, other) => (other.role?.epoch ?? 0) - (one.role?.epoch ?? 0))[0];
  }

  function pick(needs: Needs): FollowedController | undefined {
    const leading = leader();
    if (needs === "leader") return leading;
    const others = present().filter((each) => each !== leading && each.role?.leads === false);
    turn += 1;
    return others[turn % Math.max(1, others.length)] ?? leading; // the leader has enough to do
  }

  async function resolveNames(): Promise<void> {
    const found = await Promise.allSettled(
      addresses.map(async ({ host, port }) =>
        (await lookup(host, { all: true })).map(({ address }) => ({ host: address, port })),
      ),
    );
    if (isOver) return;
    const isWhole = found.every(({ status }) => status === "fulfilled");
    const now = new Map(
      found
        .flatMap((each) => (each.status === "fulfilled" ? each.value : []))
        .map((address) => [`${address.host} ${address.port}`, address]),
    );
    for (const [key, address] of now)
      if (!followed.has(key))
        followed.set(
          key,
          followController({
            address,
            credentials,
            log,
            changed: waiting.wake,
            isUrgent: () => leader() === undefined,
          }),
        );
    // If a name server does not answer, known controllers are kept.
    if (isWhole)
      for (const [key, each] of followed)
        if (!now.has(key)) {
          each[Symbol.dispose]();
          followed.delete(key);
        }
  }

  function keepResolving(): void {
    void resolveNames().finally(() => {
      if (!isOver) timer = setTimeout(keepResolving, RESOLVE_AGAIN_MS).unref();
    });
  }
  keepResolving();

  return {
    pick,
    changed: (timeoutMs) => waiting.wait(timeoutMs),
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
      for (const each of followed.values()) each[Symbol.dispose]();
    },
  };
}
