import ndc from "node-datachannel";
import type { DataChannel, PeerConnection, Track } from "node-datachannel";
import { announceAddress, isUsableCandidate } from "./candidates.ts";
import type { ConnectionState, MediaSettings } from "./messages.ts";

/** A peer connection of the library with its sharp edges covered. */
export interface NativeConnection {
  readonly library: PeerConnection;
  /** Wraps a callback: an exception that escapes one aborts the whole process. */
  guard<A extends unknown[]>(callback: (...args: A) => void): (...args: A) => void;
  /** Tracks and channels must be closed one by one, or they are never freed. */
  own<P extends Track | DataChannel>(part: P): P;
  /** Our description once the candidates are in it. */
  describe(type: "offer" | "answer"): Promise<string>;
  applyRemote(sdp: string, type: "offer" | "answer"): void;
  addCandidate(candidate: string, mid: string): void;
  close(): void;
}

export interface NativeConnectionOptions {
  settings: MediaSettings;
  changed(state: ConnectionState): void;
  problem(error: unknown): void;
}

// Below the 1280-byte paths on which larger packets stall silently.
const MTU_BYTES = 1200;
const GATHER_MS = 2_000;
const WAITING_CANDIDATES_MAX = 100;
const STATES = new Set<string>(["connected", "disconnected", "failed", "closed"] satisfies ConnectionState[]);

export function createNativeConnection(options: NativeConnectionOptions): NativeConnection {
  const { settings } = options;
  let closed = false;
  let described = false;
  const waiting: { candidate: string; mid: string }[] = [];
  const owned: (Track | DataChannel)[] = [];
  const library = new ndc.PeerConnection("room", {
    iceServers: [],
    disableAutoNegotiation: true,
    enableIceUdpMux: true,
    forceMediaTransport: true, // media comes after the first negotiation
    portRangeBegin: settings.udpPort,
    portRangeEnd: settings.udpPort,
    maxMessageSize: settings.maxDataBytes,
    mtu: MTU_BYTES,
    ...(settings.bindAddress ? { bindAddress: settings.bindAddress } : {}),
  });

  const connection: NativeConnection = {
    library,
    guard:
      (callback) =>
      (...args) => {
        if (closed) return;
        try {
          callback(...args);
        } catch (error) {
          options.problem(error);
        }
      },
    own(part) {
      owned.push(part);
      part.onClosed(ignore); // without a listener the library keeps it
      return part;
    },
    async describe(type) {
      library.setLocalDescription(type);
      await gathered(library);
      const sdp = closed ? undefined : library.localDescription()?.sdp;
      if (!sdp) throw new Error(`The peer connection gave no ${type}`);
      return settings.announcedAddress ? announceAddress(sdp, settings.announcedAddress) : sdp;
    },
    applyRemote(sdp, type) {
      library.setRemoteDescription(sdp, type);
      described = true;
      for (const { candidate, mid } of waiting.splice(0)) connection.addCandidate(candidate, mid);
    },
    addCandidate(candidate, mid) {
      if (closed || !isUsableCandidate(candidate, { allowPrivate: settings.allowPrivateCandidates })) return;
      if (!described) {
        if (waiting.length < WAITING_CANDIDATES_MAX) waiting.push({ candidate, mid });
        return;
      }
      try {
        library.addRemoteCandidate(candidate, mid);
      } catch {
        // One odd candidate is no reason to lose the others.
      }
    },
    close() {
      if (closed) return;
      closed = true;
      for (const part of owned.splice(0)) part.close();
      library.close();
    },
  };
  library.onStateChange(
    connection.guard((state) => {
      if (STATES.has(state)) options.changed(state as ConnectionState);
    }),
  );
  return connection;
}

function ignore(): void {
  // nothing is left to do
}

async function gathered(library: PeerConnection): Promise<void> {
  if (library.gatheringState() === "complete") return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, GATHER_MS);
    library.onGatheringStateChange((state) => {
      if (state !== "complete") return;
      clearTimeout(timer);
      resolve();
    });
  });
}
