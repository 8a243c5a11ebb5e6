import { newPeerId, type IceCandidate, parseJson } from "@vocalhost/protocol";
import type { MediaHost, MediaNews, MediaPort } from "../media/media-host.ts";
import type { MediaRates } from "../media/messages.ts";
import type { ConnectionEvents, WebRtcConnection } from "../bot/runner-arguments.ts";
import { createListeners } from "../listeners.ts";

/** A peer connection as the session server and the transport use it. */
export interface OpenConnection extends WebRtcConnection {
  renegotiate(sdp: string): Promise<string>;
  /** Replaces the peer by a new one, with a new identifier. */
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
  media: Pick<MediaHost, "open">;
  sdp: string;
  /** Called last, with the reason, when the connection is over. */
  closed(end: Extract<MediaNews, { type: "closed" }>): void;
  /** Called when a listener of the bot threw. */
  failed(error: unknown): void;
}

const EARLY_MESSAGES_MAX = 50; // clients send a greeting before the bot listens

export async function openConnection(
  options: OpenConnectionOptions,
): Promise<{ connection: OpenConnection; answer: string }> {
  const connection = connect(options);
  return { connection, answer: await connection.renegotiate(options.sdp) };
}

function connect(options: OpenConnectionOptions): OpenConnection {
  return new MediaPeerConnection(options);
}

class MediaPeerConnection implements OpenConnection {
  readonly #options: OpenConnectionOptions;
  readonly #listeners = createListeners<ConnectionEvents>();
  #peerId = newPeerId();
  #state: WebRtcConnection["state"] = "connecting";
  #handler: ConnectionHandler | undefined;
  #microphoneOn = true;
  readonly #earlyMessages: unknown[] = [];
  readonly #port: MediaPort;
  readonly on: OpenConnection["on"] = this.#listeners.on;
  readonly off: OpenConnection["off"] = this.#listeners.off;

  constructor(options: OpenConnectionOptions) {
    this.#options = options;
    this.#port = options.media.open((news) => {
      try {
        this.#onNews(news);
      } catch (error) {
        options.failed(error);
      }
    });
  }

  get peerId(): WebRtcConnection["peerId"] {
    return this.#peerId;
  }

  get state(): "connecting" | "connected" | "closed" {
    return this.#state;
  }

  readonly renegotiate: OpenConnection["renegotiate"] = (sdp) => this.#port.offer(sdp, false);

  readonly rebuild: OpenConnection["rebuild"] = async (sdp) => {
    const answer = await this.#port.offer(sdp, true);
    this.#peerId = newPeerId();
    return answer;
  };

  readonly addCandidates: OpenConnection["addCandidates"] = (candidates) =>
    this.#port.addCandidates(candidates);

  readonly attach: OpenConnection["attach"] = (rates, attached) => {
    this.#handler = attached;
    this.#port.attach(rates);
    for (const message of this.#earlyMessages.splice(0)) attached.message(message);
  };

  readonly play: OpenConnection["play"] = (samples) => this.#port.play(samples);

  readonly clear: OpenConnection["clear"] = (generation) => this.#port.clear(generation);

  readonly pause: OpenConnection["pause"] = (paused) => this.#port.pause(paused);

  readonly send: OpenConnection["send"] = (text) => this.#port.send(text);

  readonly close: OpenConnection["close"] = () => this.#port.close(true);

  #onNews(news: MediaNews): void {
    switch (news.type) {
      case "audio":
        return this.#microphoneOn ? this.#handler?.audio(news.samples) : undefined;
      case "message":
        return this.#onMessage(news.text);
      case "played":
        return this.#handler?.played(news.generation, news.samples);
      case "speaking":
        return this.#handler?.speaking(news.speaking);
      case "connected":
        this.#state = "connected";
        return this.#listeners.emit("connected");
      case "disconnected":
        this.#state = "connecting";
        return this.#listeners.emit("disconnected");
      case "closed":
        this.#state = "closed";
        this.#listeners.emit("closed");
        return this.#options.closed(news);
      case "channel-open":
        return undefined;
      default:
        return news satisfies never;
    }
  }

  #onMessage(text: string): void {
    const message = parseJson(text);
    if (isSignalling(message)) {
      const { type, receiver_index, enabled } = message.message;
      if (type === "trackStatus" && receiver_index === 0) this.#microphoneOn = enabled !== false;
    } else if (this.#handler) this.#handler.message(message);
    else if (this.#earlyMessages.length < EARLY_MESSAGES_MAX) this.#earlyMessages.push(message);
  }
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
