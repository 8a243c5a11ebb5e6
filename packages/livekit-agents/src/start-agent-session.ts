import { voice } from "@livekit/agents";
import type { AudioInput, Transport } from "vocalhost";
import { connectClient } from "./connect-client.ts";
import { createMouth } from "./mouth.ts";
import { SessionAudioInput } from "./session-audio-input.ts";
import { SessionAudioOutput } from "./session-audio-output.ts";
import { toTextOutput } from "./session-text-output.ts";
import { problemOf } from "./problem-of.ts";
import { createSubtitles } from "./subtitles.ts";

const FAILED: string = voice.CloseReason.ERROR;

export interface AgentSessionOptions<UserData> {
  session: voice.AgentSession<UserData>;
  /** Who speaks first; `session.updateAgent` hands over to others. */
  agent: voice.Agent<UserData>;
  transport: Transport;
  /** What to listen to. @default transport.audioIn */
  audioIn?: AudioInput;
}

export interface RunningAgentSession extends AsyncDisposable {
  /**
   * Resolves when the session is over: it was closed, the client is gone, or `args.signal` has aborted. Rejects when a
   * model failed for good.
   */
  readonly ended: Promise<void>;
}

/**
 * Starts an `AgentSession` that hears and speaks through a transport, without a room. What is said and understood is
 * told to the client. Disposing of it closes the session.
 */
export async function startAgentSession<UserData>(
  options: AgentSessionOptions<UserData>,
): Promise<RunningAgentSession> {
  const { session, agent, transport } = options;
  if (session.input.audio || session.output.audio)
    throw new Error("This AgentSession has audio already: make one for each call of bot()");
  transport.signal.throwIfAborted();
  const subtitles = createSubtitles(transport.rtvi);
  const mouth = createMouth(transport, subtitles);
  const closed = Promise.withResolvers<void>();
  closed.promise.catch(() => undefined); // for who awaits `ended`

  function onClose({ reason, error }: voice.CloseEvent): void {
    if (reason === FAILED)
      closed.reject(new Error(`The agent session failed: ${problemOf(error)}`, { cause: error }));
    else closed.resolve();
  }

  function onGone(): void {
    session.shutdown({ drain: false, reason: voice.CloseReason.PARTICIPANT_DISCONNECTED });
  }

  session.on(voice.AgentSessionEventTypes.Close, onClose);
  transport.signal.addEventListener("abort", onGone);
  const disconnectClient = connectClient(session, transport);
  const input = new SessionAudioInput(options.audioIn ?? transport.audioIn);
  session.input.audio = input;
  session.output.audio = new SessionAudioOutput(mouth);
  session.output.transcription = toTextOutput(mouth);
  function letGo(): void {
    transport.signal.removeEventListener("abort", onGone);
    session.off(voice.AgentSessionEventTypes.Close, onClose);
    disconnectClient();
    mouth.close();
    void input.close().catch(() => undefined); // it may be over already
  }
  void closed.promise.then(letGo, letGo);

  try {
    await session.start({ agent });
  } catch (error) {
    closed.reject(error);
    throw error;
  }
  if (transport.signal.aborted) onGone();
  return {
    ended: closed.promise,
    async [Symbol.asyncDispose]() {
      await session.close();
      closed.resolve();
    },
  };
}
