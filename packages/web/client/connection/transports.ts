import type { Link, LinkOptions } from "./link.ts";

/** A way to connect that this page can offer. */
export interface TransportChoice {
  name: string;
  label: string;
  hint: string;
  /** Its code is loaded on demand; asking early makes the first connection faster. */
  load(): Promise<(options: LinkOptions) => Link>;
}

/** In the order they are offered. A transport the runner does not list is not shown. */
const choices: TransportChoice[] = [
  {
    name: "webrtc",
    label: "WebRTC",
    hint: "Lowest delay, survives a poor network",
    load: async () => (await import("./webrtc-link.ts")).createWebrtcLink,
  },
  {
    name: "websocket",
    label: "WebSocket",
    hint: "One TCP connection, passes strict firewalls",
    load: async () => (await import("./websocket-link.ts")).createWebsocketLink,
  },
];

export function choicesFor(accepted: string[]): TransportChoice[] {
  return choices.filter((choice) => accepted.includes(choice.name));
}
