import { voice, type metrics } from "@livekit/agents";
import type { RtviEvents, Transport } from "vocalhost";
import { isRecoverable, problemOf } from "./problem-of.ts";

export interface ClientLink {
  disconnect(): void;
}

/** Reports the user's side of the session to the client, and passes the client's requests to the session. */
export function connectClient<UserData>(
  session: voice.AgentSession<UserData>,
  transport: Transport,
): ClientLink {
  return new RtviLink(session, transport);
}

const { AgentSessionEventTypes: types } = voice;

class RtviLink<UserData> implements ClientLink {
  readonly #session: voice.AgentSession<UserData>;
  readonly #transport: Transport;
  readonly #onUserState = ({ oldState, newState }: voice.UserStateChangedEvent): void => {
    if (newState === "speaking") this.#transport.rtvi.userStartedSpeaking();
    else if (oldState === "speaking") this.#transport.rtvi.userStoppedSpeaking();
  };
  readonly #onTranscribed = ({ transcript, isFinal }: voice.UserInputTranscribedEvent): void => {
    if (transcript !== "") this.#transport.rtvi.userTranscription({ text: transcript, final: isFinal });
  };
  readonly #onItem = ({ item }: voice.ConversationItemAddedEvent): void => {
    if (item.type === "message" && item.role === "user" && item.textContent)
      this.#transport.rtvi.send("user-llm-text", { text: item.textContent });
  };
  readonly #onTools = ({ functionCalls, functionCallOutputs }: voice.FunctionToolsExecutedEvent): void => {
    for (const call of functionCalls) {
      const about = { tool_call_id: call.callId, function_name: call.name };
      const output = functionCallOutputs.find((one) => one?.callId === call.callId);
      this.#transport.rtvi.send("llm-function-call-started", { function_name: call.name });
      this.#transport.rtvi.send("llm-function-call-stopped", {
        ...about,
        cancelled: false,
        result: output?.output,
      });
    }
  };
  readonly #onMetrics = ({ metrics: figures }: voice.MetricsCollectedEvent): void =>
    tellMetrics(this.#transport, figures);
  readonly #onError = ({ error }: voice.ErrorEvent): void => {
    if (!isRecoverable(error)) this.#transport.rtvi.error(problemOf(error));
  };
  // An uninterruptible speech makes this throw; nothing else does.
  readonly #onClientInterrupted = (): void => {
    try {
      this.#session.interrupt();
    } catch {
      return;
    }
  };
  readonly #onText: RtviEvents["send-text"] = ({ content, runImmediately, audioResponse }) => {
    if (runImmediately) this.#answer({ userInput: content }, audioResponse);
    else this.#addToContext("user", content);
  };
  readonly #onAppend: RtviEvents["append-to-context"] = ({ role, content, run_immediately }) => {
    this.#addToContext(role, typeof content === "string" ? content : JSON.stringify(content));
    if (run_immediately) this.#answer({}, true);
  };

  constructor(session: voice.AgentSession<UserData>, transport: Transport) {
    this.#session = session;
    this.#transport = transport;
    session.on(types.UserStateChanged, this.#onUserState);
    session.on(types.UserInputTranscribed, this.#onTranscribed);
    session.on(types.ConversationItemAdded, this.#onItem);
    session.on(types.FunctionToolsExecuted, this.#onTools);
    session.on(types.MetricsCollected, this.#onMetrics);
    session.on(types.Error, this.#onError);
    transport.on("client-interrupted", this.#onClientInterrupted);
    transport.rtvi.on("send-text", this.#onText);
    transport.rtvi.on("append-to-context", this.#onAppend);
  }

  disconnect(): void {
    this.#session.off(types.UserStateChanged, this.#onUserState);
    this.#session.off(types.UserInputTranscribed, this.#onTranscribed);
    this.#session.off(types.ConversationItemAdded, this.#onItem);
    this.#session.off(types.FunctionToolsExecuted, this.#onTools);
    this.#session.off(types.MetricsCollected, this.#onMetrics);
    this.#transport.off("client-interrupted", this.#onClientInterrupted);
    this.#transport.rtvi.off("send-text", this.#onText);
    this.#transport.rtvi.off("append-to-context", this.#onAppend);
    // The error listener stays: without one, a late error of a model would be thrown.
  }

  #answer(to: { userInput?: string }, isSpoken: boolean): void {
    this.#onClientInterrupted();
    const isSilent = !isSpoken && this.#session.output.audioEnabled;
    try {
      if (isSilent) this.#session.output.setAudioEnabled(false);
      const reply = this.#session.generateReply(to);
      if (isSilent) reply.addDoneCallback(() => this.#session.output.setAudioEnabled(true));
    } catch (error) {
      this.#transport.rtvi.error(problemOf(error)); // the session is about to close
    }
  }

  #addToContext(role: "user" | "assistant", content: string): void {
    const agent = this.#session.currentAgent;
    const context = agent.chatCtx.copy();
    context.addMessage({ role, content });
    agent.updateChatCtx(context).catch((error: unknown) => this.#transport.rtvi.error(problemOf(error)));
  }
}

function tellMetrics({ rtvi }: Transport, figures: metrics.AgentMetrics): void {
  switch (figures.type) {
    case "llm_metrics":
      if (figures.ttftMs >= 0)
        rtvi.metrics({ ttfb: [{ processor: figures.label, value: figures.ttftMs / 1000 }] });
      rtvi.metrics({
        tokens: [
          {
            prompt_tokens: figures.promptTokens,
            completion_tokens: figures.completionTokens,
            total_tokens: figures.totalTokens,
          },
        ],
      });
      return;
    case "tts_metrics":
      if (figures.ttfbMs >= 0)
        rtvi.metrics({ ttfb: [{ processor: figures.label, value: figures.ttfbMs / 1000 }] });
      return;
    default:
      return;
  }
}
