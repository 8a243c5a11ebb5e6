import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { networkInterfaces } from "node:os";

/** A bad network before a media port: the server is bound to loopback, participants know only the relay. */
export interface LossyRelay extends AsyncDisposable {
  readonly address: string;
  readonly port: number;
  /** Share of packets that are lost, each way, from now on. */
  lostShare: number;
  readonly lost: number;
  readonly passed: number;
}

/** Relays from this machine's own address to the same port of loopback. */
export async function openLossyRelay(): Promise<LossyRelay> {
  const address = ownAddress();
  const outside = createSocket("udp4");
  outside.bind(0, address);
  await once(outside, "listening");
  const { port } = outside.address();
  const insides = new Map<string, Socket>();
  const figures = { lostShare: 0, lost: 0, passed: 0 };

  function pass(send: () => void): void {
    if (Math.random() < figures.lostShare) figures.lost += 1;
    else {
      figures.passed += 1;
      send();
    }
  }

  function insideFor(sender: RemoteInfo): Socket {
    const key = `${sender.address}:${sender.port}`;
    const known = insides.get(key);
    if (known) return known;
    const inside = createSocket("udp4");
    inside.bind(0, LOOPBACK);
    inside.on("message", (packet) => pass(() => outside.send(packet, sender.port, sender.address)));
    insides.set(key, inside);
    return inside;
  }

  outside.on("message", (packet, sender) => pass(() => insideFor(sender).send(packet, port, LOOPBACK)));
  return Object.assign(figures, {
    address,
    port,
    async [Symbol.asyncDispose]() {
      outside.close();
      for (const inside of insides.values()) inside.close();
    },
  });
}

const LOOPBACK = "127.0.0.1";

function ownAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const own = addresses.find(({ family, internal }) => family === "IPv4" && !internal);
  if (!own) throw new Error("This machine has no address but loopback");
  return own.address;
}
