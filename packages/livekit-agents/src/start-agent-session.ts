import { voice } from "@livekit/agents";
import type { AudioInput, Transport } from "vocalhost";
import { connectClient } from "./connect-client.ts";
import { createSpeechPlayer, type SpeechPlayer } from "./speech-player.ts";
import { SessionAudioOutput } from "./session-audio-output.ts";
import { problemOf } from "./problem-of.ts";
import { createSubtitles } from "./subtitles.ts";
import { ReadableStream } from "node:stream/web";
import { AudioFrame } from "@livekit/rtc-node";
import { type TextPiece } from "./heard-text.ts";

const FAILED: string = voice.CloseReason.ERROR;

export interface AgentSessionOptions<UserData> {
  session: voice.AgentSession<UserData>;
  /** The first agent; `session.updateAgent` switches to others. */
  agent: voice.Agent<UserData>;
  transport: Transport;
  /** Audio to listen to. @default transport.audioIn */
  audioIn?: AudioInput;
}

export interface RunningAgentSession extends AsyncDisposable {
  /**
   * Resolves when the session is over: it was closed, the client is gone, or `args.signal` has aborted. Rejects
   * when a model failed for good.
   */
  readonly ended: Promise<void>;
}

/**
 * Starts an `AgentSession` that hears and speaks through a transport, without a room. The client is told what is
 * said and understood. Disposing of it closes the session.
 */
export async function startAgentSession<UserData>(
  options: AgentSessionOptions<UserData>,
): Promise<RunningAgentSession> {
  const { session, agent, transport } = options;
  if (session.input.audio || session.output.audio)
    throw new Error("This AgentSession has audio already: make one for each call of bot()");
  transport.signal.throwIfAborted();
  const subtitles = createSubtitles(transport.rtvi);
  const player = createSpeechPlayer(transport, subtitles);
  const closed = Promise.withResolvers<void>();
  closed.promise.catch(() => undefined); // callers may await `ended` instead

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
  const client = connectClient(session, transport);
  const input = new SessionAudioInput(options.audioIn ?? transport.audioIn);
  session.input.audio = input;
  session.output.audio = new SessionAudioOutput(player);
  session.output.transcription = toTextOutput(player);
  function letGo(): void {
    transport.signal.removeEventListener("abort", onGone);
    session.off(voice.AgentSessionEventTypes.Close, onClose);
    client.disconnect();
    player.close();
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

/** The user's audio as an `AgentSession` input. */
class SessionAudioInput extends voice.AudioInput {
  #isAttached = true;

  constructor(audioIn: AudioInput) {
    super();
    this.multiStream.addInputStream(ReadableStream.from(this.#frames(audioIn)));
  }

  override setAttached(attached: boolean): void {
    this.#isAttached = attached;
  }

  async *#frames(audioIn: AudioInput): AsyncGenerator<AudioFrame> {
    for await (const { samples, sampleRateHz } of audioIn) {
      if (!this.#isAttached) continue; // muted by `session.input.setAudioEnabled(false)`
      // Native code reads from the beginning of the frame's buffer, whatever part of it the frame covers.
      const own = samples.byteLength === samples.buffer.byteLength ? samples : samples.slice();
      yield new AudioFrame(own, sampleRateHz, 1, own.length);
    }
  }
}

type TextOutput = NonNullable<voice.AgentSession["output"]["transcription"]>;

/**
 * Returns the text output of an `AgentSession`. The library does not export the class; it calls only these
 * methods.
 */
function toTextOutput(player: SpeechPlayer): TextOutput {
  const output: Pick<TextOutput, "captureText" | "flush" | "onAttached" | "onDetached"> = {
    captureText(text) {
      player.addText(voice.isTimedString(text) ? toPiece(text) : { text });
      return Promise.resolve();
    },
    flush: () => player.endText(),
    onAttached: () => undefined,
    onDetached: () => undefined,
  };
  return output;
}

function toPiece({ text, startTime, endTime }: voice.TimedString): TextPiece {
  return { text, startMs: toMs(startTime), endMs: toMs(endTime) };
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
