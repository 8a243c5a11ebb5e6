import { newPeerId, type IceCandidate, parseJson } from "@vocalhost/protocol";
import type { MediaHost, MediaNews, MediaPort } from "../media/media-host.ts";
import type { MediaRates } from "../media/messages.ts";
import type { ConnectionEvents, WebRtcConnection } from "../bot/runner-arguments.ts";
import { createListeners } from "../listeners.ts";

/** The connection as the session server and the transport use it. */
export interface OpenConnection extends WebRtcConnection {
  renegotiate(sdp: string): Promise<string>;
  /** Builds a new peer in place of the old one, under a new identifier. */
  rebuild(sdp: string): Promise<string>;
  addCandidates(candidates: IceCandidate[]): void;
  attach(rates: MediaRates, handler: ConnectionHandler): void;
  play(samples: Int16Array): void;
  clear(generation: number): void;
  pause(paused: boolean): void;
  send(text: string): void;
}

export interface ConnectionHandler {
  audio(samples: Int16Array): void;
  message(message: unknown): void;
  played(generation: number, samples: number): void;
  speaking(speaking: boolean): void;
}

export interface OpenConnectionOptions {
  media: MediaHost;
  sdp: string;
  /** Called with the reason when the connection is over; the last call. */
  closed(end: Extract<MediaNews, { type: "closed" }>): void;
  /** The bot's own code threw while it was told something. */
  failed(error: unknown): void;
}

const EARLY_MESSAGES_MAX = 50; // clients greet before the bot is there to listen

export async function openConnection(
  options: OpenConnectionOptions,
): Promise<{ connection: OpenConnection; answer: string }> {
  const listeners = createListeners<ConnectionEvents>();
  let peerId = newPeerId();
  let state: WebRtcConnection["state"] = "connecting";
  let handler: ConnectionHandler | undefined;
  let microphoneOn = true;
  const earlyMessages: unknown[] = [];

  function onNews(news: MediaNews): void {
    switch (news.type) {
      case "audio":
        return microphoneOn ? handler?.audio(news.samples) : undefined;
      case "message":
        return onMessage(news.text);
      case "played":
        return handler?.played(news.generation, news.samples);
      case "speaking":
        return handler?.speaking(news.speaking);
      case "connected":
        state = "connected";
        return listeners.emit("connected");
      case "disconnected":
        state = "connecting";
        return listeners.emit("disconnected");
      case "closed":
        state = "closed";
        listeners.emit("closed");
        return options.closed(news);
      case "channel-open":
        return undefined;
      default:
        return news satisfies never;
    }
  }

  function onMessage(text: string): void {
    const message = parseJson(text);
    if (isSignalling(message)) {
      const { type, receiver_index, enabled } = message.message;
      if (type === "trackStatus" && receiver_index === 0) microphoneOn = enabled !== false;
    } else if (handler) handler.message(message);
    else if (earlyMessages.length < EARLY_MESSAGES_MAX) earlyMessages.push(message);
  }

  const port: MediaPort = options.media.open((news) => {
    try {
      onNews(news);
    } catch (error) {
      options.failed(error);
    }
  });
  const connection: OpenConnection = {
    get peerId() {
      return peerId;
    },
    get state() {
      return state;
    },
    on: listeners.on,
    off: listeners.off,
    renegotiate: (sdp) => port.offer(sdp, false),
    async rebuild(sdp) {
      const answer = await port.offer(sdp, true);
      peerId = newPeerId();
      return answer;
    },
    addCandidates: (candidates) => port.addCandidates(candidates),
    attach(rates, attached) {
      handler = attached;
      port.attach(rates);
      for (const message of earlyMessages.splice(0)) attached.message(message);
    },
    play: (samples) => port.play(samples),
    clear: (generation) => port.clear(generation),
    pause: (paused) => port.pause(paused),
    send: (text) => port.send(text),
    close: () => port.close(true),
  };
  return { connection, answer: await port.offer(options.sdp, false) };
}

interface Signalling {
  type: "signalling";
  message: { type?: unknown; receiver_index?: unknown; enabled?: unknown };
}

function isSignalling(message: unknown): message is Signalling {
  if (typeof message !== "object" || message === null) return false;
  const { type, message: inner } = message as Partial<Signalling>;
  return type === "signalling" && typeof inner === "object" && inner !== null;
}
