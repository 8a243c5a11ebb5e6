import { PipecatClient, RTVIEvent, type Transport } from "@pipecat-ai/client-js";
import { SmallWebRTCTransport, WavMediaManager as PeerMedia } from "@pipecat-ai/small-webrtc-transport";
import { WavMediaManager as SocketMedia, WebSocketTransport } from "@pipecat-ai/websocket-transport";
import { installLoudspeaker, type Loudspeaker } from "./loudspeaker.ts";

/** The interface of the page for tests: one client of the released packages, and what it has told its application. */
export interface CallerPage {
  createClient(options: ClientOptions): void;
  readonly client: PipecatClient;
  /** Every event of the client, oldest first. */
  readonly events: readonly { name: string; data: unknown }[];
  readonly loudspeaker: Loudspeaker;
  /**
   * Gives a rebuilt peer connection a microphone and plays its voice. Resolves with the state of the
   * microphone the client went on with.
   */
  restoreMedia(): Promise<string | undefined>;
}

export interface ClientOptions {
  transport: "webrtc" | "websocket";
  /** Candidates travel in the offer; the transport's own option. */
  waitForIceGathering?: boolean;
}

declare global {
  interface Window {
    callerPage: CallerPage;
  }
}

const events: { name: string; data: unknown }[] = [];
const loudspeaker = installLoudspeaker();
let client: PipecatClient | undefined;

window.callerPage = {
  events,
  loudspeaker,
  get client() {
    if (!client) throw new Error("createClient() comes first");
    return client;
  },
  createClient(options) {
    client = new PipecatClient({ transport: createTransport(options), enableMic: true, enableCam: false });
    for (const name of Object.values(RTVIEvent))
      client.on(name, (...args: unknown[]) => void events.push({ name, data: toPlain(args[0]) }));
    client.on(RTVIEvent.TrackStarted, (track, participant) => {
      if (track.kind === "audio" && !participant?.local) loudspeaker.play(track);
    });
    client.registerFunctionCallHandler("time_zone", async ({ arguments: { city } }) => ({
      zone: `Europe/${String(city)}`,
    }));
  },
  // Clients up to 1.10.8 stop the microphone they go on using, and forget to announce the new track of the bot.
  async restoreMedia() {
    const { pc } = window.callerPage.client.transport as unknown as { pc: RTCPeerConnection };
    const [sender] = pc.getSenders();
    const [receiver] = pc.getReceivers();
    const microphone = sender?.track?.readyState;
    if (receiver) loudspeaker.play(receiver.track);
    const fresh = await navigator.mediaDevices.getUserMedia({ audio: true });
    await sender?.replaceTrack(fresh.getAudioTracks()[0] ?? null);
    return microphone;
  },
};

// Without a media manager of our choice both transports load code from a content delivery network.
function createTransport({ transport, waitForIceGathering }: ClientOptions): Transport {
  if (transport === "websocket") {
    const sampleRateHz = 16_000; // what the transport says in its frames, whatever the recorder does
    return new WebSocketTransport({
      mediaManager: new SocketMedia(512, sampleRateHz),
      recorderSampleRate: sampleRateHz,
    });
  }
  return new SmallWebRTCTransport({
    mediaManager: new PeerMedia(),
    ...(waitForIceGathering === undefined ? {} : { waitForICEGathering: waitForIceGathering }),
  });
}

function toPlain(data: unknown): unknown {
  if (data instanceof MediaStreamTrack) return { kind: data.kind, label: data.label };
  return data === undefined ? undefined : JSON.parse(JSON.stringify(data));
}
