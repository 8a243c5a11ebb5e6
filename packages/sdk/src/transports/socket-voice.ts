import type { WebSocket } from "ws";
import { createPlayout } from "../pacing/playout.ts";
import type { VoiceSettings } from "../pacing/messages.ts";
import { preparePacing, type Line } from "../pacing/pacing-thread.ts";
import { takeOverSocket } from "../pacing/take-over-socket.ts";
import { voiceMessage } from "../pacing/voice-message.ts";

/** The bot's voice on its way out over a WebSocket, at real time. */
export interface SocketVoice {
  play(samples: Int16Array): void;
  clear(): void;
  pause(paused: boolean): void;
  /** Takes back what was sent after so many samples since the last `clear`. */
  rewind(playedSamples: number): void;
  stop(): void;
}

export interface SocketVoiceHandlers {
  /** Samples sent since the last `clear`, and whether nothing is left. */
  progress(playedSamples: number, isLast: boolean): void;
  speaking(speaking: boolean): void;
  /** The other side does not read. */
  unread(bytes: number): void;
  failed(error: unknown): void;
}

/** Somebody is about to come over a WebSocket: what their voice needs is started meanwhile, behind the answer they wait for. */
export function prepareSocketVoice(): void {
  setImmediate(preparePacing);
}

/** Paced by a thread of its own, so that a bot that keeps its thread busy makes no gaps; by this one if need be. */
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
          // What was on its way when we changed our mind is about something else.
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
