import type { Link, LinkOptions } from "./link.ts";

/** A way to connect that this page can offer. */
export interface TransportChoice {
  name: string;
  label: string;
  hint: string;
  open(options: LinkOptions): Promise<Link>;
}

/** In the order they are offered. A transport the runner does not list is not shown. */
const choices: TransportChoice[] = [
  {
    name: "webrtc",
    label: "WebRTC",
    hint: "Lowest delay, survives a poor network",
    open: async (options) => (await import("./webrtc-link.ts")).createWebrtcLink(options),
  },
  {
    name: "websocket",
    label: "WebSocket",
    hint: "One TCP connection, passes strict firewalls",
    open: async (options) => (await import("./websocket-link.ts")).createWebsocketLink(options),
  },
];

export function choicesFor(accepted: string[]): TransportChoice[] {
  return choices.filter((choice) => accepted.includes(choice.name));
}
