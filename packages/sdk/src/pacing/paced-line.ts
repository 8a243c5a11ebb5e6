import { createPlayout } from "./playout.ts";
import type { TimerWheel } from "./timer-wheel.ts";
import type { LineEvent, VoiceSettings } from "./messages.ts";
import { createSocketWriter } from "./socket-writer.ts";
import { voiceMessage } from "./voice-message.ts";

/** One WebSocket in the pacing thread: the bot's voice in real time, and other messages in between. */
export interface PacedLine {
  play(samples: Int16Array): void;
  clear(era: number): void;
  pause(paused: boolean): void;
  rewind(era: number, playedSamples: number): void;
  write(bytes: Uint8Array): void;
  finish(): void;
  release(): void;
}

export interface PacedLineOptions {
  line: number;
  fd: number;
  settings: VoiceSettings;
  wheel: TimerWheel;
  emit(event: LineEvent): void;
}

export function createPacedLine({ line, fd, settings, wheel, emit }: PacedLineOptions): PacedLine {
  let era = 0;
  const writer = createSocketWriter({
    fd,
    unreadMaxBytes: settings.unreadMaxBytes,
    unread: (bytes) => emit({ type: "unread", line, bytes }),
  });
  const playout = createPlayout({
    ...settings,
    clock: wheel,
    send: (chunk) => {
      if (chunk) writer.write(webSocketFrame(voiceMessage(chunk, settings)));
    },
    progress: () => {
      const { playedSamples, queuedSamples } = playout;
      emit({ type: "progress", line, era, playedSamples, isLast: queuedSamples === 0 });
    },
    speaking: (speaking) => emit({ type: "speaking", line, speaking }),
    onError: (error) => emit({ type: "failed", line, error: String(error) }),
  });
  playout.start();

  return {
    play: (samples) => void playout.write(samples),
    clear(next) {
      era = next;
      playout.clear();
    },
    pause: (paused) => playout.pause(paused),
    rewind(next, playedSamples) {
      era = next;
      playout.rewind(playedSamples);
    },
    write: (bytes) => writer.write(bytes),
    finish() {
      playout.stop();
      writer.whenFlushed(() => emit({ type: "finished", line }));
    },
    release() {
      playout.stop();
      writer.release();
      emit({ type: "released", line });
    },
  };
}

const WHOLE_TEXT = 0x81;
const WHOLE_BINARY = 0x82;
const SHORT_MAX = 125;
const MEDIUM_MAX = 0xffff;

/** Encodes a server's message: in one frame, neither masked nor compressed (RFC 6455, 5.2). */
export function webSocketFrame(message: Uint8Array | string): Buffer {
  const isText = typeof message === "string";
  const length = isText ? Buffer.byteLength(message) : message.length;
  const headBytes = length <= SHORT_MAX ? 2 : length <= MEDIUM_MAX ? 4 : 10;
  const frame = Buffer.allocUnsafe(headBytes + length);
  frame[0] = isText ? WHOLE_TEXT : WHOLE_BINARY;
  if (headBytes === 2) frame[1] = length;
  else if (headBytes === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  if (isText) frame.write(message, headBytes);
  else frame.set(message, headBytes);
  return frame;
}
