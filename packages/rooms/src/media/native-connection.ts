import { openConnection, type NativeConnection, type NativeOptions } from "../native.ts";
import { announceAddress, isUsableCandidate } from "./candidates.ts";
import type { ConnectionState, MediaSettings } from "./messages.ts";

export interface NativeConnectionOptions {
  settings: MediaSettings;
  changed(state: ConnectionState): void;
  problem(error: unknown): void;
}

type OfSide = Pick<NativeOptions, "role" | "channelOpened">;

// Below the 1280-byte paths on which larger packets stall silently.
const MTU_BYTES = 1200;
const GATHER_MS = 2_000;
const STATES = new Set<string>(["connected", "disconnected", "failed", "closed"] satisfies ConnectionState[]);

/** A connection on the port of all rooms, with the addresses participants are told. */
export function createNativeConnection(options: NativeConnectionOptions & OfSide): NativeConnection {
  const { settings } = options;
  const connection = openConnection({
    ...options,
    config: {
      iceServers: [],
      enableIceUdpMux: true,
      forceMediaTransport: true, // media comes after the first negotiation
      portRangeBegin: settings.udpPort,
      portRangeEnd: settings.udpPort,
      maxMessageSize: settings.maxDataBytes,
      mtu: MTU_BYTES,
      ...(settings.bindAddress ? { bindAddress: settings.bindAddress } : {}),
    },
    gatherMs: GATHER_MS,
    changed(state) {
      if (STATES.has(state)) options.changed(state as ConnectionState);
    },
  });

  const announced = (sdp: string): string =>
    settings.announcedAddress ? announceAddress(sdp, settings.announcedAddress) : sdp;

  return {
    accept: (answer) => connection.accept(answer),
    addTrack: (media) => connection.addTrack(media),
    createChannel: (label, init) => connection.createChannel(label, init),
    close: () => connection.close(),
    answer: async (offer) => announced(await connection.answer(offer)),
    offer: async () => announced(await connection.offer()),
    addCandidate(candidate, mid) {
      if (isUsableCandidate(candidate, { allowPrivate: settings.allowPrivateCandidates }))
        connection.addCandidate(candidate, mid);
    },
  };
}
