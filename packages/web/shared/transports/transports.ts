import type { Link, LinkOptions } from "../connection/link.ts";
import type { OpenSession, OpenSessionOptions, TransportChoice } from "../connection/open-session.ts";
import { carriersAmong, PHONE } from "../phone/call-choice.ts";

/** In the order they are offered. A transport the runner does not list is not shown. */
const choices: (TransportChoice & { isAccepted: (accepted: string[]) => boolean })[] = [
  {
    name: "webrtc",
    label: "WebRTC",
    hint: "Lowest delay, survives a poor network",
    isAccepted: (accepted) => accepted.includes("webrtc"),
    load: () => overLink(import("./webrtc-link.ts").then((code) => code.createWebrtcLink)),
  },
  {
    name: "websocket",
    label: "WebSocket",
    hint: "One TCP connection, passes strict firewalls",
    isAccepted: (accepted) => accepted.includes("websocket"),
    load: () => overLink(import("./websocket-link.ts").then((code) => code.createWebsocketLink)),
  },
  {
    name: "room",
    label: "Room",
    hint: "Several people and a bot in one conversation",
    isAccepted: (accepted) => accepted.includes("room"),
    load: () => overLink(import("./room-transport.ts").then((code) => code.createRoomLink)),
  },
  {
    name: PHONE,
    label: "Phone",
    hint: "A call as a carrier delivers it, at 8 kHz",
    isAccepted: (accepted) => carriersAmong(accepted).length > 0,
    load: async () => (await import("../phone/phone-session.ts")).openPhoneSession,
  },
];

export function choicesFor(accepted: string[]): TransportChoice[] {
  return choices.filter((choice) => choice.isAccepted(accepted));
}

async function overLink(
  loading: Promise<(options: LinkOptions) => Link>,
): Promise<(options: OpenSessionOptions) => OpenSession> {
  const [createLink, { Session }] = await Promise.all([loading, import("../connection/session.ts")]);
  return (options) => {
    const onAttendees: LinkOptions["onAttendees"] = (attendees) =>
      options.report({ type: "attendees-changed", attendees });
    return new Session({ ...options, link: createLink({ ...options, onAttendees }) });
  };
}
