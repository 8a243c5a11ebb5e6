import { FRAME_MS } from "@vocalhost/audio";
import type { IceServer } from "@vocalhost/protocol";
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

/** One session's media in the media thread. Outlives its peer: a client that reconnects brings a new one. */
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
const REPORT_EVERY_MS = 1_000; // browsers judge their loss by it
const OPUS_SAMPLES_PER_FRAME = 960; // 20 ms on Opus' 48 kHz clock
const UNREAD_MAX_BYTES = 1024 * 1024; // a client that stops reading must not fill our memory
const PEER_LEFT = JSON.stringify({ type: "signalling", message: { type: "peerLeft" } });
const GOODBYE_AFTER_SOUND_MS = 2_500; // clients ping every second, so one that leaves was heard just before
const GOODBYE_MS = 100; // lets the last message leave before the connection closes
const LATE_GOODBYE_MS = 5_000; // for a client still connecting, which would wait for a bot that has failed

export function createMediaConnection(options: MediaConnectionOptions): MediaConnection {
  const { id, emit, settings } = options;
  const ssrc = randomInt(1, 2 ** 32 - 1);
  let sequenceNumber = randomInt(0, 2 ** 16);
  let timestamp = randomInt(0, 2 ** 32 - 1);
  let peer: Peer | undefined;
  let codec: VoiceCodec | undefined;
  let playout: Playout | undefined;
  let generation = 0;
  let connected = false;
  let everConnected = false;
  let leaving = false;
  let ended = false;
  let lastHeardMs = performance.now();
  let hasChannel = false;
  let channelOpened = false;
  let waitingMessages: string[] = []; // said before the data channel opened
  let waitingBytes = 0;
  const reception = createReception({ clockRateHz: OPUS_CLOCK_HZ, nowMs: () => performance.now() });
  const loss = createExpectedLoss();
  let reportedMs = -Infinity;
  const bornMs = performance.now();
  let awakeMs = bornMs;
  const watchdog = setInterval(watch, WATCH_MS);

  /** A thread that was held up has heard nobody meanwhile, which says nothing about them. */
  function forgiveHoldUp(nowMs: number): void {
    lastHeardMs += Math.max(0, nowMs - awakeMs - 2 * WATCH_MS);
    awakeMs = nowMs;
  }

  function watch(): void {
    const nowMs = performance.now();
    forgiveHoldUp(nowMs);
    if (connected && nowMs - reportedMs >= REPORT_EVERY_MS) {
      reportedMs = nowMs;
      const report = reception.report();
      if (report) peer?.sendRtp(writeReceiverReport(ssrc, report));
    }
    if (!everConnected) {
      if (nowMs - bornMs > settings.timing.connectMs) end("never-connected");
    } else if (nowMs - lastHeardMs > settings.timing.lostMs) end("client-lost");
  }

  function end(reason: CloseReason, unreadBytes?: number): void {
    if (ended) return;
    ended = true;
    clearInterval(watchdog);
    playout?.stop();
    peer?.close();
    codec?.free();
    codec = undefined;
    emit({ type: "closed", connection: id, reason, ...(unreadBytes === undefined ? {} : { unreadBytes }) });
    options.closed();
  }

  function openPeer(): Peer {
    const opened: Peer = createPeer({
      iceServers: options.iceServers,
      gatherMs: settings.timing.gatherMs,
      reach: settings.reach,
      ssrc,
      on: {
        connected: () => {
          lastHeardMs = performance.now();
          connected = true;
          everConnected = true;
          emit({ type: "connected", connection: id });
          if (codec) playout?.start();
        },
        disconnected: () => {
          connected = false;
          emit({ type: "disconnected", connection: id });
        },
        left: () => {
          if (peer !== opened) return;
          const nowMs = performance.now();
          forgiveHoldUp(nowMs);
          // A channel also closes when its messages got lost too often; the watchdog judges a lost network.
          if (nowMs - lastHeardMs < GOODBYE_AFTER_SOUND_MS) end("client-left");
          else connected = false;
        },
        channelOpen: () => {
          channelOpened = true;
          emit({ type: "channel-open", connection: id });
          for (const text of waitingMessages.splice(0)) opened.sendText(text);
          waitingBytes = 0;
          if (leaving && opened.sendText(PEER_LEFT)) setTimeout(() => end("requested"), GOODBYE_MS);
        },
        rtp: onRtp,
        text: onText,
        failed: options.report,
      },
    });
    return opened;
  }

  function onRtp(bytes: Buffer): void {
    lastHeardMs = performance.now();
    const packet = parseRtpPacket(bytes);
    if (!packet) return onRtcp(bytes);
    if (packet.payloadType !== peer?.opusPayloadType) return undefined;
    reception.receive(packet);
    return codec?.receive(packet);
  }

  function onRtcp(bytes: Buffer): void {
    const { sender, receptions } = readRtcp(bytes);
    if (sender) reception.senderReported(sender);
    for (const report of receptions)
      if (report.ssrc === ssrc && loss.observe(report.fractionLost))
        codec?.setPacketLossPercent(loss.percent);
  }

  function onText(text: string): void {
    lastHeardMs = performance.now();
    if (!text.startsWith("ping")) emit({ type: "message", connection: id, text });
  }

  function sendChunk(chunk: Int16Array | undefined): void {
    if (!codec || !peer) return;
    codec.poll();
    const payload = codec.encode(chunk);
    const packet = writeRtpPacket({
      payloadType: peer.opusPayloadType,
      sequenceNumber,
      timestamp,
      ssrc,
      marker: false,
      payload,
    });
    sequenceNumber = (sequenceNumber + 1) & 0xffff;
    timestamp = (timestamp + OPUS_SAMPLES_PER_FRAME) >>> 0;
    if (connected) peer.sendRtp(packet);
  }

  return {
    async offer(request, offer, rebuild) {
      const former = rebuild ? peer : undefined;
      if (rebuild) {
        peer = undefined;
        former?.close();
        lastHeardMs = performance.now();
        channelOpened = false;
      }
      peer ??= openPeer();
      hasChannel = offer.hasChannel;
      const current = peer;
      try {
        emit({ type: "answer", connection: id, request, sdp: await current.answer(offer) });
      } catch (error) {
        emit({ type: "offer-refused", connection: id, request, reason: reasonOf(error) });
        if (!everConnected && !former) end("never-connected");
      }
    },
    answered: () => peer?.answered(),
    addCandidates: (candidates) => peer?.addCandidates(candidates),
    async attach(rates) {
      // Before the codec is there: what the bot says meanwhile must be kept.
      playout = createPlayout({
        sampleRateHz: rates.outputHz,
        chunkMs: FRAME_MS,
        maxQueuedMs: rates.maxQueuedMs,
        clock: options.wheel,
        send: sendChunk,
        progress: () =>
          emit({ type: "played", connection: id, generation, samples: playout?.playedSamples ?? 0 }),
        speaking: (speaking) => emit({ type: "speaking", connection: id, speaking }),
        onError: options.report,
      });
      const created = await createVoiceCodec({
        rates,
        complexity: options.effort.complexity,
        deliver: (samples) => emit({ type: "audio", connection: id, samples }),
      });
      if (ended) return created.free();
      codec = created;
      codec.setPacketLossPercent(loss.percent);
      if (connected) playout.start();
      return undefined;
    },
    play: (samples) => void playout?.write(samples),
    clear(next) {
      generation = next;
      playout?.clear();
      codec?.clear();
    },
    pause: (paused) => playout?.pause(paused),
    send(text) {
      if (!hasChannel) return;
      if (!peer?.sendText(text)) {
        waitingMessages.push(text);
        waitingBytes += Buffer.byteLength(text);
      }
      const unreadBytes = waitingBytes + (peer?.bufferedBytes() ?? 0);
      if (unreadBytes > UNREAD_MAX_BYTES) end("client-lost", unreadBytes);
    },
    setComplexity: (complexity) => codec?.setComplexity(complexity),
    close(sayGoodbye) {
      if (sayGoodbye && leaving) return undefined;
      const isTold = sayGoodbye && everConnected && (peer?.sendText(PEER_LEFT) ?? false);
      // Connected is not all: the data channel opens a moment later, or, if the client has none, never.
      const isToldLater = sayGoodbye && !isTold && !channelOpened && (hasChannel || !everConnected);
      if (!isTold && !isToldLater) return end("requested");
      leaving = true;
      setTimeout(() => end("requested"), isTold ? GOODBYE_MS : LATE_GOODBYE_MS);
      return undefined;
    },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
