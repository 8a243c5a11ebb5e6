import { addNetwork, deleteNetwork, freeNumber, ip, MARK, within } from "./networks.ts";
import { missingPrograms, startTurnServer } from "./turn-server.ts";
import type { WatchedProcess } from "./watched-process.ts";

/**
 * Three networks of their own: one for bots, one for a caller, and between them a TURN server, which both reach and
 * which passes on nothing else. The bots' network is also reached from here, for signalling.
 */
export interface TurnNetwork extends AsyncDisposable {
  /** Put before a command to run it there. */
  readonly bots: readonly string[];
  readonly caller: readonly string[];
  /** Address of the bots' network, as seen from here. */
  readonly botsAddress: string;
  /** The same, as seen from the TURN server. */
  readonly botsMediaAddress: string;
  readonly turnAddress: string;
  readonly turn: WatchedProcess;
}

const TURN_ADDRESS = "198.51.100.1";
const CALLER = "10.213.2";
const BOTS = "10.213.1";
const HERE = "10.215"; // and a number, as other tests may have such networks beside us

/** Why there can be none on this machine; a machine for tests must have one. */
export function turnIsMissing(): string | false {
  const why = reason();
  if (why && process.env["CI"]) throw new Error(`The test of TURN cannot be run: ${why}`);
  return why ?? false;
}

function reason(): string | undefined {
  if (process.getuid?.() !== 0) return "only root can make networks";
  const missing = missingPrograms("turnserver", "ip", "nsenter");
  return missing.length === 0 ? undefined : `there is no ${missing.join(", ")}`;
}

export async function openTurnNetwork(secret: string): Promise<TurnNetwork> {
  await using stack = new AsyncDisposableStack(); // undoes a half-finished start
  function open(name: string): string {
    return stack.adopt(addNetwork(name), deleteNetwork);
  }
  const [bots, caller, middle] = [open("b"), open("c"), open("t")];
  const here = `${HERE}.${freeNumber(HERE, 255)}`;
  // Deleted with the network at their other end.
  link({ name: `${MARK}0`, address: `${here}.1` }, { network: bots, address: `${here}.2` });
  link({ network: middle, name: "bots", address: `${BOTS}.1` }, { network: bots, address: `${BOTS}.2` });
  link(
    { network: middle, name: "caller", address: `${CALLER}.1` },
    { network: caller, address: `${CALLER}.2` },
  );
  ip("-n", middle, "addr", "add", `${TURN_ADDRESS}/32`, "dev", "lo");
  ip("-n", bots, "route", "add", TURN_ADDRESS, "via", `${BOTS}.1`);
  ip("-n", caller, "route", "add", TURN_ADDRESS, "via", `${CALLER}.1`);
  const turn = stack.use(await startTurnServer({ within: within(middle), address: TURN_ADDRESS, secret }));
  const owned = stack.move();
  return {
    bots: within(bots),
    caller: within(caller),
    botsAddress: `${here}.2`,
    botsMediaAddress: `${BOTS}.2`,
    turnAddress: TURN_ADDRESS,
    turn,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface LinkEnd {
  /** @default this one */
  network?: string;
  name?: string;
  address: string;
}

function link(near: LinkEnd, far: LinkEnd): void {
  const name = near.name ?? "near";
  const farName = `to${far.address.split(".").slice(1, 3).join(".")}`;
  const inNear = near.network ? ["-n", near.network] : [];
  ip(...inNear, "link", "add", name, "type", "veth", "peer", "name", farName, "netns", far.network ?? "");
  ip(...inNear, "addr", "add", `${near.address}/30`, "dev", name);
  ip(...inNear, "link", "set", name, "up");
  ip("-n", far.network ?? "", "addr", "add", `${far.address}/30`, "dev", farName);
  ip("-n", far.network ?? "", "link", "set", farName, "up");
}
