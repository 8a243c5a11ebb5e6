import { FRAME_MS } from "@vocalhost/audio";
import type { IceCandidate, IceServer } from "@vocalhost/protocol";
import { randomInt } from "node:crypto";
import { createPlayout, type Playout } from "../pacing/playout.ts";
import { createReception } from "./rtp/reception.ts";
import { readRtcp, writeReceiverReport } from "./rtp/rtcp.ts";
import { parseRtpPacket, writeRtpPacket } from "./rtp/rtp.ts";
import type { TimerWheel } from "../pacing/timer-wheel.ts";
import { createExpectedLoss } from "./expected-loss.ts";
import type { CloseReason, MediaEvent, MediaRates, MediaWorkerData } from "./messages.ts";
import type { Offer } from "./offer.ts";
import type { OpusEffort } from "./opus-effort.ts";
import { createPeer, type Peer } from "./peer.ts";
import { createVoiceCodec, type VoiceCodec } from "./voice-codec.ts";
import { messageOf } from "../message-of.ts";

/** A session's media in the media thread. It outlives its peer: a client that reconnects brings a new one. */
export interface MediaConnection {
  offer(request: number, offer: Offer, rebuild: boolean): Promise<void>;
  answered: Peer["answered"];
  addCandidates: Peer["addCandidates"];
  attach(rates: MediaRates): Promise<void>;
  play(samples: Int16Array): void;
  clear(generation: number): void;
  pause(paused: boolean): void;
  send(text: string): void;
  setComplexity(complexity: number): void;
  close(sayGoodbye: boolean): void;
}

export interface MediaConnectionOptions {
  id: number;
  settings: MediaWorkerData;
  iceServers: IceServer[];
  effort: Pick<OpusEffort, "complexity">;
  wheel: TimerWheel;
  emit(event: MediaEvent): void;
  report(error: unknown): void;
  closed(): void;
}

const OPUS_CLOCK_HZ = 48_000;
const WATCH_MS = 500;
const REPORT_EVERY_MS = 1_000; // browsers compute their packet loss from it
const OPUS_SAMPLES_PER_FRAME = 960; // 20 ms on Opus' 48 kHz clock
const UNREAD_MAX_BYTES = 1024 * 1024; // bounds memory for a client that stops reading
const PEER_LEFT = JSON.stringify({ type: "signalling", message: { type: "peerLeft" } });
const GOODBYE_AFTER_SOUND_MS = 2_500; // clients ping every second, so one that leaves was heard just before
const GOODBYE_MS = 100; // lets the last message leave before the connection closes
const LATE_GOODBYE_MS = 5_000; // for a client that is still connecting, and would wait for a bot that has failed

/** "lost": it was connected, and may connect again. */
type Link = "connecting" | "connected" | "lost" | "ended";

export function createMediaConnection(options: MediaConnectionOptions): MediaConnection {
  return new SessionMedia(options);
}

class SessionMedia implements MediaConnection {
  readonly #options: MediaConnectionOptions;
  readonly #ssrc = randomInt(1, 2 ** 32 - 1);
  #sequenceNumber = randomInt(0, 2 ** 16);
  #timestamp = randomInt(0, 2 ** 32 - 1);
  #peer: Peer | undefined;
  #codec: VoiceCodec | undefined;
  #playout: Playout | undefined;
  #generation = 0;
  #link: Link = "connecting";
  #isLeaving = false;
  #lastHeardMs = performance.now();
  #hasChannel = false;
  #channelOpened = false;
  #waitingMessages: string[] = []; // sent before the data channel opened
  #waitingBytes = 0;
  readonly #reception = createReception({ clockRateHz: OPUS_CLOCK_HZ, nowMs: () => performance.now() });
  readonly #loss = createExpectedLoss();
  #reportedMs = -Infinity;
  readonly #bornMs = performance.now();
  #awakeMs = this.#bornMs;
  readonly #watchdog: NodeJS.Timeout;

  constructor(options: MediaConnectionOptions) {
    this.#options = options;
    this.#watchdog = setInterval(this.#watch, WATCH_MS);
  }

  async offer(request: number, offer: Offer, rebuild: boolean): Promise<void> {
    const former = rebuild ? this.#peer : undefined;
    if (rebuild) {
      this.#peer = undefined;
      former?.close();
      this.#lastHeardMs = performance.now();
      this.#channelOpened = false;
    }
    this.#peer ??= this.#openPeer();
    this.#hasChannel = offer.hasChannel;
    const current = this.#peer;
    try {
      this.#options.emit({
        type: "answer",
        connection: this.#options.id,
        request,
        sdp: await current.answer(offer),
      });
    } catch (error) {
      this.#options.emit({
        type: "offer-refused",
        connection: this.#options.id,
        request,
        reason: messageOf(error),
      });
      if (this.#link === "connecting" && !former) this.#end("never-connected");
    }
  }

  answered(): void {
    this.#peer?.answered();
  }

  addCandidates(candidates: IceCandidate[]): void {
    this.#peer?.addCandidates(candidates);
  }

  async attach(rates: MediaRates): Promise<void> {
    // Created before the codec, so that audio written meanwhile is kept.
    this.#playout = createPlayout({
      sampleRateHz: rates.outputHz,
      chunkMs: FRAME_MS,
      maxQueuedMs: rates.maxQueuedMs,
      clock: this.#options.wheel,
      send: this.#sendChunk,
      progress: () =>
        this.#options.emit({
          type: "played",
          connection: this.#options.id,
          generation: this.#generation,
          samples: this.#playout?.playedSamples ?? 0,
        }),
      speaking: (speaking) =>
        this.#options.emit({ type: "speaking", connection: this.#options.id, speaking }),
      onError: this.#options.report,
    });
    const created = await createVoiceCodec({
      rates,
      complexity: this.#options.effort.complexity,
      deliver: (samples) => this.#options.emit({ type: "audio", connection: this.#options.id, samples }),
    });
    if (this.#link === "ended") return created.free();
    this.#codec = created;
    this.#codec.setPacketLossPercent(this.#loss.percent);
    if (this.#link === "connected") this.#playout.start();
    return undefined;
  }

  play(samples: Int16Array): void {
    this.#playout?.write(samples);
  }

  clear(next: number): void {
    this.#generation = next;
    this.#playout?.clear();
    this.#codec?.clear();
  }

  pause(paused: boolean): void {
    this.#playout?.pause(paused);
  }

  send(text: string): void {
    if (!this.#hasChannel) return;
    if (!this.#peer?.sendText(text)) {
      this.#waitingMessages.push(text);
      this.#waitingBytes += Buffer.byteLength(text);
    }
    const unreadBytes = this.#waitingBytes + (this.#peer?.bufferedBytes() ?? 0);
    if (unreadBytes > UNREAD_MAX_BYTES) this.#end("client-lost", unreadBytes);
  }

  setComplexity(complexity: number): void {
    this.#codec?.setComplexity(complexity);
  }

  close(sayGoodbye: boolean): void {
    if (sayGoodbye && this.#isLeaving) return undefined;
    const isTold = sayGoodbye && this.#link !== "connecting" && (this.#peer?.sendText(PEER_LEFT) ?? false);
    // The data channel opens a moment after the connection, or never if the client has none.
    const isToldLater =
      sayGoodbye && !isTold && !this.#channelOpened && (this.#hasChannel || this.#link === "connecting");
    if (!isTold && !isToldLater) return this.#end("requested");
    this.#isLeaving = true;
    setTimeout(() => this.#end("requested"), isTold ? GOODBYE_MS : LATE_GOODBYE_MS);
    return undefined;
  }

  /** Extends the deadline by the time this thread was stalled, during which it could not receive. */
  #forgiveHoldUp(nowMs: number): void {
    this.#lastHeardMs += Math.max(0, nowMs - this.#awakeMs - 2 * WATCH_MS);
    this.#awakeMs = nowMs;
  }

  readonly #watch = (): void => {
    const nowMs = performance.now();
    this.#forgiveHoldUp(nowMs);
    if (this.#link === "connected" && nowMs - this.#reportedMs >= REPORT_EVERY_MS) {
      this.#reportedMs = nowMs;
      const report = this.#reception.report();
      if (report) this.#peer?.sendRtp(writeReceiverReport(this.#ssrc, report));
    }
    if (this.#link === "connecting") {
      if (nowMs - this.#bornMs > this.#options.settings.timing.connectMs) this.#end("never-connected");
    } else if (nowMs - this.#lastHeardMs > this.#options.settings.timing.lostMs) this.#end("client-lost");
  };

  #onDisconnected(): void {
    if (this.#link === "connected") this.#link = "lost";
  }

  #end(reason: CloseReason, unreadBytes?: number): void {
    if (this.#link === "ended") return;
    this.#link = "ended";
    clearInterval(this.#watchdog);
    this.#playout?.stop();
    this.#peer?.close();
    this.#codec?.free();
    this.#codec = undefined;
    this.#options.emit({
      type: "closed",
      connection: this.#options.id,
      reason,
      ...(unreadBytes === undefined ? {} : { unreadBytes }),
    });
    this.#options.closed();
  }

  #openPeer(): Peer {
    const opened: Peer = createPeer({
      iceServers: this.#options.iceServers,
      gatherMs: this.#options.settings.timing.gatherMs,
      reach: this.#options.settings.reach,
      ssrc: this.#ssrc,
      on: {
        connected: () => {
          if (this.#link === "ended") return;
          this.#lastHeardMs = performance.now();
          this.#link = "connected";
          this.#options.emit({ type: "connected", connection: this.#options.id });
          if (this.#codec) this.#playout?.start();
        },
        disconnected: () => {
          this.#onDisconnected();
          this.#options.emit({ type: "disconnected", connection: this.#options.id });
        },
        left: () => {
          if (this.#peer !== opened) return;
          const nowMs = performance.now();
          this.#forgiveHoldUp(nowMs);
          // A channel also closes after too many lost messages; the watchdog detects a lost network.
          if (nowMs - this.#lastHeardMs < GOODBYE_AFTER_SOUND_MS) this.#end("client-left");
          else this.#onDisconnected();
        },
        channelOpen: () => {
          this.#channelOpened = true;
          this.#options.emit({ type: "channel-open", connection: this.#options.id });
          for (const text of this.#waitingMessages.splice(0)) opened.sendText(text);
          this.#waitingBytes = 0;
          if (this.#isLeaving && opened.sendText(PEER_LEFT))
            setTimeout(() => this.#end("requested"), GOODBYE_MS);
        },
        rtp: this.#onRtp,
        text: this.#onText,
        failed: this.#options.report,
      },
    });
    return opened;
  }

  readonly #onRtp = (bytes: Buffer): void => {
    this.#lastHeardMs = performance.now();
    const packet = parseRtpPacket(bytes);
    if (!packet) return this.#onRtcp(bytes);
    if (packet.payloadType !== this.#peer?.opusPayloadType) return undefined;
    this.#reception.receive(packet);
    return this.#codec?.receive(packet);
  };

  #onRtcp(bytes: Buffer): void {
    const { sender, receptions } = readRtcp(bytes);
    if (sender) this.#reception.senderReported(sender);
    for (const report of receptions)
      if (report.ssrc === this.#ssrc && this.#loss.observe(report.fractionLost))
        this.#codec?.setPacketLossPercent(this.#loss.percent);
  }

  readonly #onText = (text: string): void => {
    this.#lastHeardMs = performance.now();
    if (!text.startsWith("ping")) this.#options.emit({ type: "message", connection: this.#options.id, text });
  };

  readonly #sendChunk = (chunk: Int16Array | undefined): void => {
    if (!this.#codec || !this.#peer) return;
    this.#codec.poll();
    const payload = this.#codec.encode(chunk);
    const packet = writeRtpPacket({
      payloadType: this.#peer.opusPayloadType,
      sequenceNumber: this.#sequenceNumber,
      timestamp: this.#timestamp,
      ssrc: this.#ssrc,
      marker: false,
      payload,
    });
    this.#sequenceNumber = (this.#sequenceNumber + 1) & 0xffff;
    this.#timestamp = (this.#timestamp + OPUS_SAMPLES_PER_FRAME) >>> 0;
    if (this.#link === "connected") this.#peer.sendRtp(packet);
  };
}
