import { addNetwork, deleteNetwork, freeNumber, ip, MARK, within } from "./networks.ts";

/**
 * A network namespace for a service with bots in containers, with its own interfaces, routes and firewall. This process
 * is outside of it: on its internet, and on another machine of its private network.
 */
export interface HostNetwork extends Disposable {
  /** Put before a command to run it there. */
  readonly within: readonly string[];
  /** Address of the machine, as the internet sees it. */
  readonly address: string;
  /** Ours, as the machine sees the internet. */
  readonly internet: string;
  /** Ours, in the machine's private network. */
  readonly intranet: string;
}

export function openHostNetwork(): HostNetwork {
  using stack = new DisposableStack(); // undoes a half-finished start
  const name = stack.adopt(addNetwork("h"), deleteNetwork);
  const near = `${MARK}n`;
  const number = freeNumber("10.214", 62);
  // Documentation's addresses, in blocks of four; tests that run beside each other take different ones.
  const [internet, address] = [`198.51.100.${number * 4 + 1}`, `198.51.100.${number * 4 + 2}`];
  const intranet = `10.214.${number}.1`;
  ip("link", "add", near, "type", "veth", "peer", "name", "outside", "netns", name); // deleted with its other end
  ip("addr", "add", `${internet}/30`, "dev", near);
  ip("addr", "add", `${intranet}/32`, "dev", near);
  ip("link", "set", near, "up");
  ip("-n", name, "addr", "add", `${address}/30`, "dev", "outside");
  ip("-n", name, "link", "set", "outside", "up");
  ip("-n", name, "route", "add", "default", "via", internet);
  const owned = stack.move();
  return {
    within: within(name),
    address,
    internet,
    intranet,
    [Symbol.dispose]: () => owned.dispose(),
  };
}
