import { ProtobufFrameSerializer, WebSocketTransport } from "@pipecat-ai/websocket-transport";
import { SocketMedia } from "../media/socket-media.ts";
import type { Link, LinkOptions } from "../connection/link.ts";

const CAPTURE_RATE_HZ = 16_000;
const PLAYBACK_RATE_HZ = 24_000; // what servers of this framing send, whatever the frame says

export function createWebsocketLink(options: LinkOptions): Link {
  const media = new SocketMedia({
    ...options,
    captureRateHz: CAPTURE_RATE_HZ,
    playbackRateHz: PLAYBACK_RATE_HZ,
  });
  const serializer = new CountingSerializer();
  const transport = new GivingUpTransport({
    mediaManager: media as never, // its base class is not exported, only its shape matters
    serializer,
    recorderSampleRate: CAPTURE_RATE_HZ,
  });
  return {
    transport,
    media,
    startRequest: { transport: "websocket" },
    failure: "socket-failed",
    toConnectParams: pickAddress,
    playBot() {},
    followBot() {},
    resumePlayback() {},
    handleMessage(message) {
      if (message.type === "bot-interrupted") media.clearBotAudio();
    },
    async sendMicrophone() {}, // the capture follows by itself
    isHungUp: () => false, // a closed socket is reported
    isInterrupted: () => false,
    async sample(atMs) {
      const { bytesUp, bytesDown } = serializer;
      const { bufferedMs, gaps } = media.playback;
      return { atMs, bytesUp, bytesDown, bufferMs: bufferedMs, gaps, route: "TCP" };
    },
    abandon: () => transport.giveUp(),
  };
}

/** The transport refuses every key it does not know. */
function pickAddress(answer: unknown): { wsUrl: string; token?: string } {
  const { wsUrl, token } = (answer ?? {}) as { wsUrl?: unknown; token?: unknown };
  if (typeof wsUrl !== "string") throw new Error("The start answer has no wsUrl");
  return typeof token === "string" ? { wsUrl, token } : { wsUrl };
}

class CountingSerializer extends ProtobufFrameSerializer {
  bytesUp = 0;
  bytesDown = 0;

  override serializeAudio(...args: Parameters<ProtobufFrameSerializer["serializeAudio"]>): Uint8Array {
    return this.#sent(super.serializeAudio(...args));
  }

  override serializeMessage(...args: Parameters<ProtobufFrameSerializer["serializeMessage"]>): Uint8Array {
    return this.#sent(super.serializeMessage(...args));
  }

  override deserialize(data: unknown): ReturnType<ProtobufFrameSerializer["deserialize"]> {
    if (data instanceof Blob) this.bytesDown += data.size;
    return super.deserialize(data);
  }

  #sent(bytes: Uint8Array): Uint8Array {
    this.bytesUp += bytes.length;
    return bytes;
  }
}

/** Closes a socket that opens after the session was given up, which the transport leaves open. */
class GivingUpTransport extends WebSocketTransport {
  #givenUp = false;
  #socket: ReturnType<WebSocketTransport["initializeWebsocket"]> | undefined;

  override initializeWebsocket(): ReturnType<WebSocketTransport["initializeWebsocket"]> {
    const socket = super.initializeWebsocket();
    this.#socket = socket;
    socket.on("open", () => {
      if (this.#givenUp) void socket.close();
    });
    return socket;
  }

  giveUp(): void {
    this.#givenUp = true;
    void this.#socket?.close();
  }
}
