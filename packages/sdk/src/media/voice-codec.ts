import { createFramer, createResampler, samplesIn } from "@vocalhost/audio";
import { createOpusDecoder, createOpusEncoder, OPUS_RATES } from "./opus.ts";
import { createRtpReceiver } from "./rtp/rtp-receiver.ts";
import type { RtpPacket } from "./rtp/rtp.ts";
import type { MediaRates } from "./messages.ts";

/** Turns RTP packets into the bot's samples, and the bot's samples into Opus packets. */
export interface VoiceCodec {
  receive(packet: RtpPacket): void;
  /** Gives up on packets that are overdue. */
  poll(): void;
  /** Encodes 20 ms of the bot's audio, or of silence. */
  encode(chunk: Int16Array | undefined): Uint8Array;
  /** Resets the encoder: the next audio is unrelated to the audio before. */
  clear(): void;
  setComplexity(complexity: number): void;
  setPacketLossPercent(percent: number): void;
  free(): void;
}

export interface VoiceCodecOptions {
  rates: MediaRates;
  complexity: number;
  deliver(samples: Int16Array): void;
}

// A constant packet of 20 ms of silence. Real zeros are encoded first so that the voice fades out.
const SILENCE_PACKET = Uint8Array.of(0xf8, 0xff, 0xfe);
const FADE_CHUNKS = 5;

export async function createVoiceCodec(options: VoiceCodecOptions): Promise<VoiceCodec> {
  const { rates } = options;
  const decodeHz = opusRateFor(rates.inputHz);
  const encodeHz = opusRateFor(rates.outputHz);
  const decoder = await createOpusDecoder({ sampleRateHz: decodeHz });
  const encoder = await createOpusEncoder({ sampleRateHz: encodeHz, complexity: options.complexity });
  const toBot = createResampler({ fromHz: decodeHz, toHz: rates.inputHz });
  const toWire = createResampler({ fromHz: rates.outputHz, toHz: encodeHz });
  const wireFramer = createFramer({ samplesPerFrame: samplesIn(20, encodeHz) });
  const zeros = new Int16Array(samplesIn(20, rates.outputHz));
  let silentChunks = FADE_CHUNKS;
  const receiver = createRtpReceiver({
    decoder,
    nowMs: () => performance.now(),
    deliver: (samples) => options.deliver(decodeHz === rates.inputHz ? samples : toBot.process(samples)),
  });

  function encodeChunk(chunk: Int16Array): Uint8Array {
    if (encodeHz === rates.outputHz) return encoder.encode(chunk);
    const [frame] = wireFramer.push(toWire.process(chunk));
    return frame ? encoder.encode(frame) : SILENCE_PACKET;
  }

  return {
    receive: (packet) => receiver.receive(packet),
    poll: () => receiver.poll(),
    encode(chunk) {
      silentChunks = chunk ? 0 : silentChunks + 1;
      return silentChunks > FADE_CHUNKS ? SILENCE_PACKET : encodeChunk(chunk ?? zeros);
    },
    clear() {
      toWire.reset();
      wireFramer.flush();
    },
    setComplexity: (complexity) => encoder.setComplexity(complexity),
    setPacketLossPercent: (percent) => encoder.setPacketLossPercent(percent),
    free() {
      decoder.free();
      encoder.free();
    },
  };
}

/** Opus resamples to its own rates; other rates use the next higher one. */
function opusRateFor(sampleRateHz: number): number {
  return OPUS_RATES.find((rate) => rate >= sampleRateHz) ?? 48_000;
}
