import { LogLevel, type RTVIMessage } from "@pipecat-ai/client-js";
import type { LinkSample } from "../figures/link-figures.ts";
import { watchVoices } from "../voice/watch-voices.ts";
import type { VoiceHistory } from "../voice/voice-history.ts";
import type { ConnectionReport, ConnectStep, EndedBy } from "./connection-event.ts";
import type { Link } from "./link.ts";
import { ObservedClient } from "./observed-client.ts";
import { problem, type Problem } from "./problem.ts";
import {
  problemFromConnect,
  problemFromFatal,
  problemFromStart,
  problemFromTimeout,
} from "./session-problem.ts";
import { problemFromMicrophone } from "./problem.ts";
import { watchLink } from "./watch-link.ts";

/** One conversation with a bot, from the start request to its end. */
export interface Session {
  readonly link: Link;
  setMuted(muted: boolean): void;
  sendText(text: string): void;
  sample(atMs: number): Promise<LinkSample>;
  end(): Promise<void>;
}

export interface SessionOptions {
  link: Link;
  useMicrophone: boolean;
  body: unknown;
  history: VoiceHistory;
  report: (report: ConnectionReport & { atMs?: number }) => void;
}

const STEP_LIMIT_MS: Record<ConnectStep, number> = {
  microphone: 60_000, // a person has to answer a question
  start: 30_000, // a cold start of a hosted bot
  connect: 20_000,
  bot: 20_000,
};
const CLOSE_LIMIT_MS = 2_000; // an ended session must not hang on a dead network

export function openSession(options: SessionOptions): Session {
  const { link, report } = options;
  const owned = new DisposableStack();
  let step: ConnectStep = "microphone";
  let stepTimer: ReturnType<typeof setTimeout> | undefined;
  let refusal: unknown;
  let finished = false;

  const client = new ObservedClient(
    {
      transport: link.transport,
      enableMic: options.useMicrophone,
      disconnectOnBotDisconnect: false, // finish() does it, and tells why
      callbacks: {
        onBotReady: ({ version, about }) => {
          clearTimeout(stepTimer);
          report({ type: "bot-ready", version, ...libraryOf(about) });
          if (!finished) owned.use(watchLink({ link, report, onLost: () => fail(problem("connection-lost")) }));
        },
        onBotDisconnected: () => leave("bot"),
        onDisconnected: () => fail(problem("connection-lost")),
        onTrackStarted: (track, participant) => {
          if (!participant?.local && track.kind === "audio") link.playBot(track);
        },
        onError: (message) => {
          refusal = readError(message);
          if (isFatal(message)) failOrLeave(problemFromFatal(refusal));
        },
      },
    },
    (message) => {
      if (finished) return;
      report({ type: "message-received", message });
      link.handleMessage(message);
    },
  );
  client.setLogLevel(LogLevel.WARN);

  void run();
  return {
    link,
    setMuted(muted) {
      client.enableMic(!muted);
      report({ type: muted ? "microphone-muted" : "microphone-unmuted" });
    },
    sendText(text) {
      report({ type: "message-sent", message: { type: "send-text", data: { content: text } } });
      // The client throws when the link has just gone; its end is reported on its own.
      void client.sendText(text).catch(() => {});
    },
    sample: (atMs) => link.sample(atMs),
    async end() {
      report({ type: "session-ending" });
      await finish({ type: "session-ended", by: "you" });
    },
  };
}
