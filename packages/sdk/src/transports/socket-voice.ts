import type { WebSocket } from "ws";
import { createPlayout } from "../pacing/playout.ts";
import type { VoiceSettings } from "../pacing/messages.ts";
import { preparePacing, type Line } from "../pacing/pacing-thread.ts";
import { takeOverSocket } from "../pacing/take-over-socket.ts";
import { voiceMessage } from "../pacing/voice-message.ts";

/** The bot's voice on its way out over a WebSocket, in real time. */
export interface SocketVoice {
  play(samples: Int16Array): void;
  clear(): void;
  pause(paused: boolean): void;
  /** Takes back audio sent after this many samples since the last `clear`, to send it again. */
  rewind(playedSamples: number): void;
  stop(): void;
}

export interface SocketVoiceHandlers {
  /** Called with the samples sent since the last `clear`, and whether the queue is empty. */
  progress(playedSamples: number, isLast: boolean): void;
  speaking(speaking: boolean): void;
  /** Called when the other side does not read. */
  unread(bytes: number): void;
  failed(error: unknown): void;
}

/** Starts the pacing thread ahead of a WebSocket that is about to connect, so that it causes no delay. */
export function prepareSocketVoice(): void {
  setImmediate(preparePacing);
}

/**
 * Opens a voice paced by a thread of its own, so that a busy bot causes no gaps; without a shareable socket, by
 * this thread.
 */
export function openSocketVoice(
  socket: WebSocket,
  settings: VoiceSettings,
  on: SocketVoiceHandlers,
): SocketVoice {
  return openThreadVoice(socket, settings, on) ?? startOwnVoice(socket, settings, on);
}

function openThreadVoice(
  socket: WebSocket,
  settings: VoiceSettings,
  on: SocketVoiceHandlers,
): SocketVoice | undefined {
  let era = 0;
  let isStopped = false;
  const line: Line | undefined = takeOverSocket(socket, settings, (news) => {
    if (isStopped) return undefined;
    try {
      switch (news.type) {
        case "progress":
          // Progress sent before the last `clear` or `rewind` is outdated.
          return news.era === era ? on.progress(news.playedSamples, news.isLast) : undefined;
        case "speaking":
          return on.speaking(news.speaking);
        case "unread":
          return on.unread(news.bytes);
        case "failed":
          return on.failed(new Error(news.error));
        default:
          return news satisfies never;
      }
    } catch (error) {
      return on.failed(error);
    }
  });
  if (!line) return undefined;
  return {
    play: (samples) => line.post({ type: "audio", samples }),
    clear() {
      era += 1;
      line.post({ type: "clear", era });
    },
    pause: (paused) => line.post({ type: "pause", paused }),
    rewind(playedSamples) {
      era += 1;
      line.post({ type: "rewind", era, playedSamples });
    },
    stop() {
      era += 1;
      line.post({ type: "clear", era });
      isStopped = true;
    },
  };
}

function startOwnVoice(socket: WebSocket, settings: VoiceSettings, on: SocketVoiceHandlers): SocketVoice {
  const playout = createPlayout({
    ...settings,
    send(chunk) {
      if (!chunk || socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount > settings.unreadMaxBytes) on.unread(socket.bufferedAmount);
      else socket.send(voiceMessage(chunk, settings));
    },
    progress: () => on.progress(playout.playedSamples, playout.queuedSamples === 0),
    speaking: (speaking) => on.speaking(speaking),
    onError: (error) => on.failed(error),
  });
  playout.start();
  return {
    play: (samples) => void playout.write(samples),
    clear: () => playout.clear(),
    pause: (paused) => playout.pause(paused),
    rewind: (playedSamples) => playout.rewind(playedSamples),
    stop: () => playout.stop(),
  };
}
