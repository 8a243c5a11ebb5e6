import {
  AddTrackRequest,
  LeaveRequest,
  SessionDescription,
  SignalRequest,
  SignalResponse,
  TrackSource,
  TrackType,
} from "@livekit/protocol";
import ndc from "node-datachannel";
import type { DataChannel, PeerConnection, Track } from "node-datachannel";
import { WebSocket } from "ws";
import { until, within } from "../../testing/wait.ts";

/** The least that can be in a room: signalling and two connections, no codec. Cheap enough for hundreds. */
export interface BareParticipant {
  readonly sid: string;
  /** Resolves once media can be received. */
  connected(): Promise<void>;
  /** Announces and offers a microphone; resolves once packets can be sent. */
  publish(): Promise<Microphone>;
  /** Sends RTCP as it is, on one of its connections, once media flows there. */
  sendRtcp(side: "publisher" | "subscriber", packets: (ssrc: number) => Buffer[]): Promise<void>;
  /** Gone without a word: the socket breaks, the connections go silent. */
  vanish(): void;
  leave(): void;
}

export interface Microphone {
  /** One Opus packet. */
  send(payload: Uint8Array): void;
}

export interface BareParticipantOptions {
  url: string;
  token: string;
  /** Every RTP packet that arrives. */
  packet?(packet: Buffer): void;
  /** Our answer to this offer is ready and in force here; it is sent once this resolves. */
  beforeAnswer?(offer: SessionDescription): Promise<void>;
}

type Message = SignalRequest["message"];

const OPUS_PAYLOAD_TYPE = 111;
const VP8_PAYLOAD_TYPE = 96;
const PACKET_SAMPLES = 960;
const JOIN_MS = 30_000;
let lastSsrc = 0;

export async function joinBarely(options: BareParticipantOptions): Promise<BareParticipant> {
  const socket = new WebSocket(
    `${options.url}/rtc?access_token=${options.token}&auto_subscribe=1&protocol=16&sdk=go`,
  );
  const subscriber = new ndc.PeerConnection("subscriber", {
    iceServers: [],
    disableAutoNegotiation: true,
    forceMediaTransport: true, // tracks may come after the first offer
  });
  let publisher: PeerConnection | undefined;
  let over = false;
  const joined = Promise.withResolvers<string>();
  const connected = Promise.withResolvers<void>();
  connected.promise.catch(() => undefined); // not every test waits for it
  joined.promise.catch(() => undefined);

  // Objects to close: an open one crashes the process at its end.
  const owned: (Track | DataChannel)[] = [];
  const received: Track[] = [];
  const sent: Track[] = [];
  function own<P extends Track | DataChannel>(part: P): P {
    owned.push(part);
    part.onClosed(() => undefined);
    return part;
  }

  // An exception that escapes a callback of the library ends the process.
  const quietly =
    <A extends unknown[]>(run: (...args: A) => void) =>
    (...args: A): void => {
      if (over) return;
      try {
        run(...args);
      } catch (error) {
        connected.reject(error);
      }
    };

  function say(message: Message): void {
    if (socket.readyState === WebSocket.OPEN) socket.send(new SignalRequest({ message }).toBinary());
  }

  async function answer(offer: SessionDescription): Promise<void> {
    subscriber.setRemoteDescription(offer.sdp, "offer");
    subscriber.setLocalDescription("answer");
    await gathered(subscriber);
    await options.beforeAnswer?.(offer);
    if (over) return;
    const description = { type: "answer", sdp: subscriber.localDescription()?.sdp ?? "", id: offer.id };
    say({ case: "answer", value: new SessionDescription(description) });
  }

  subscriber.onStateChange(
    quietly((state) => {
      if (state === "connected") connected.resolve();
      if (state === "failed" || state === "closed") connected.reject(new Error(`Connection ${state}`));
    }),
  );
  subscriber.onTrack(
    quietly((track) => {
      received.push(track);
      own(track).onMessage(quietly((packet) => options.packet?.(packet)));
    }),
  );
  subscriber.onDataChannel(quietly((channel) => void own(channel)));
  socket.on("error", (error) => joined.reject(error));
  socket.on("close", () => joined.reject(new Error("The socket was closed")));
  socket.on("message", (data: Buffer) => {
    if (over) return;
    const { message } = SignalResponse.fromBinary(data);
    if (message.case === "join") joined.resolve(message.value.participant?.sid ?? "");
    else if (message.case === "offer") answer(message.value).catch(connected.reject);
    else if (message.case === "answer") publisher?.setRemoteDescription(message.value.sdp, "answer");
  });

  function end(): void {
    if (over) return;
    over = true;
    open.delete(end);
    for (const part of owned.splice(0)) part.close();
    subscriber.close();
    publisher?.close();
  }

  open.add(end);
  const sid = await within(joined.promise, JOIN_MS, "join response");
  return {
    sid,
    connected: () => within(connected.promise, JOIN_MS, "connection"),
    async publish() {
      lastSsrc += 1;
      const ssrc = lastSsrc;
      const cid = `microphone-${ssrc}`;
      publisher = new ndc.PeerConnection("publisher", { iceServers: [], disableAutoNegotiation: true });
      const media = new ndc.Audio("0", "SendOnly");
      media.addOpusCodec(OPUS_PAYLOAD_TYPE);
      media.addSSRC(ssrc, "bare", "bare", cid);
      const track = own(publisher.addTrack(media));
      const spare = new ndc.Video("1", "RecvOnly"); // released clients offer sections to receive in, too
      spare.addVP8Codec(VP8_PAYLOAD_TYPE);
      own(publisher.addTrack(spare));
      sent.push(track);
      const announcement = { cid, type: TrackType.AUDIO, source: TrackSource.MICROPHONE };
      say({ case: "addTrack", value: new AddTrackRequest(announcement) });
      const opened = Promise.withResolvers<void>();
      track.onOpen(() => opened.resolve());
      publisher.setLocalDescription("offer");
      await gathered(publisher);
      const description = { type: "offer", sdp: publisher.localDescription()?.sdp ?? "", id: 1 };
      say({ case: "offer", value: new SessionDescription(description) });
      await within(opened.promise, JOIN_MS, "open track");
      return createMicrophone(track, ssrc);
    },
    async sendRtcp(side, packets) {
      const tracks = side === "publisher" ? sent : received;
      const track = await until(() => tracks.find((one) => one.isOpen()), JOIN_MS, `media to the ${side}`);
      for (const packet of packets(lastSsrc)) track.sendMessageBinary(packet);
    },
    vanish() {
      socket.terminate();
      end();
    },
    leave() {
      say({ case: "leave", value: new LeaveRequest() });
      socket.close();
      end();
    },
  };
}

const open = new Set<() => void>();

/** Call it after the last participant; otherwise the library keeps the process alive. */
export function endBareParticipants(): void {
  for (const end of open) end();
  ndc.cleanup();
}

function createMicrophone(track: Track, ssrc: number): Microphone {
  let count = 0;
  return {
    send(payload) {
      const packet = Buffer.alloc(12 + payload.length);
      packet[0] = 0x80;
      packet[1] = OPUS_PAYLOAD_TYPE;
      packet.writeUInt16BE(count & 0xffff, 2);
      packet.writeUInt32BE((count * PACKET_SAMPLES) >>> 0, 4);
      packet.writeUInt32BE(ssrc, 8);
      packet.set(payload, 12);
      count += 1;
      if (track.isOpen()) track.sendMessageBinary(packet);
    },
  };
}

async function gathered(connection: PeerConnection): Promise<void> {
  if (connection.gatheringState() === "complete") return;
  await new Promise<void>((resolve) => {
    connection.onGatheringStateChange((state) => {
      if (state === "complete") resolve();
    });
  });
}
