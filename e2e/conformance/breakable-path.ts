import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { networkInterfaces } from "node:os";
import type { Page, Route } from "playwright-core";

/**
 * The network between a page and the service's media, as a NAT would be: the page only learns the address of a
 * relay, the service only sees the relay. Cutting it loses every packet, as when a phone leaves its Wi-Fi.
 */
export interface BreakablePath extends AsyncDisposable {
  /** Loses everything on connections made so far, and the next offers too; what comes later goes through. */
  cut(options?: { lostOffers?: number }): void;
  /** Packets that were lost. */
  readonly lost: number;
}

interface Relay {
  port: number;
  isCut: boolean;
  close(): void;
}

/** Leads the media of all offers the page makes from now on through relays. */
export async function openBreakablePath(page: Page): Promise<BreakablePath> {
  const address = ownAddress();
  const relays: Relay[] = [];
  let lost = 0;
  let lostOffers = 0;
  let isClosed = false;

  async function leadThroughRelay(route: Route): Promise<void> {
    // Neither side may learn the other's own address, or ICE would find a way around the relay.
    if (route.request().method() !== "POST") return route.fulfill({ json: { status: "success" } });
    if (lostOffers > 0) {
      lostOffers -= 1;
      return route.abort("internetdisconnected");
    }
    const offer = route.request().postDataJSON() as { sdp: string };
    const response = await route.fetch({ postData: { ...offer, sdp: withoutCandidates(offer.sdp) } });
    if (!response.ok()) return route.fulfill({ response });
    const answer = (await response.json()) as { sdp: string };
    const relay = await openRelay({ to: mediaAddressIn(answer.sdp), lost: () => (lost += 1) });
    if (isClosed) relay.close(); // an offer was under way; its sockets would keep the process alive
    else relays.push(relay);
    const candidate = `a=candidate:1 1 UDP 2122260223 ${address} ${relay.port} typ host\r\n`;
    const sdp = withoutCandidates(answer.sdp).replace(/(?=a=ice-ufrag:)/, candidate);
    return route.fulfill({ response, json: { ...answer, sdp } });
  }

  await page.route("**/api/offer", leadThroughRelay);
  return {
    cut(options = {}) {
      lostOffers = options.lostOffers ?? 0;
      for (const relay of relays) relay.isCut = true;
    },
    get lost() {
      return lost;
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const relay of relays) relay.close();
    },
  };
}

/** Passes datagrams both ways, with a socket of its own for every sender. */
async function openRelay(options: { to: MediaAddress; lost(): void }): Promise<Relay> {
  const { to, lost } = options;
  const outside = createSocket("udp4");
  const insides = new Map<string, Socket>();
  outside.bind(0);
  await once(outside, "listening");

  function insideFor(sender: RemoteInfo): Socket {
    const key = `${sender.address}:${sender.port}`;
    const known = insides.get(key);
    if (known) return known;
    const inside = createSocket("udp4");
    inside.on("message", (packet) => {
      if (relay.isCut) lost();
      else outside.send(packet, sender.port, sender.address);
    });
    insides.set(key, inside);
    return inside;
  }

  outside.on("message", (packet, sender) => {
    if (relay.isCut) lost();
    else insideFor(sender).send(packet, to.port, to.address);
  });
  const relay: Relay = {
    port: outside.address().port,
    isCut: false,
    close() {
      outside.close();
      for (const inside of insides.values()) inside.close();
    },
  };
  return relay;
}

interface MediaAddress {
  address: string;
  port: number;
}

function mediaAddressIn(sdp: string): MediaAddress {
  const match = /^a=candidate:\S+ 1 UDP \d+ (\d+(?:\.\d+){3}) (\d+) typ/im.exec(sdp);
  if (!match) throw new Error(`The answer has no UDP candidate for IPv4:\n${sdp}`);
  return { address: match[1] ?? "", port: Number(match[2]) };
}

function withoutCandidates(sdp: string): string {
  return sdp.replace(/^a=(?:candidate:.*|end-of-candidates)\r?\n/gm, "");
}

function ownAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}
