import { voice, type metrics } from "@livekit/agents";
import type { RtviEvents, Transport } from "vocalhost";
import { isRecoverable, problemOf } from "./problem-of.ts";

/** Tells the client about the user's side of the session, and the session what the client asks for. Gives the way back. */
export function connectClient<UserData>(
  session: voice.AgentSession<UserData>,
  transport: Transport,
): () => void {
  const { rtvi } = transport;
  const { AgentSessionEventTypes: types } = voice;

  const onUserState = ({ oldState, newState }: voice.UserStateChangedEvent): void => {
    if (newState === "speaking") rtvi.userStartedSpeaking();
    else if (oldState === "speaking") rtvi.userStoppedSpeaking();
  };
  const onTranscribed = ({ transcript, isFinal }: voice.UserInputTranscribedEvent): void => {
    if (transcript !== "") rtvi.userTranscription({ text: transcript, final: isFinal });
  };
  const onItem = ({ item }: voice.ConversationItemAddedEvent): void => {
    if (item.type === "message" && item.role === "user" && item.textContent)
      rtvi.send("user-llm-text", { text: item.textContent });
  };
  const onTools = ({ functionCalls, functionCallOutputs }: voice.FunctionToolsExecutedEvent): void => {
    for (const call of functionCalls) {
      const about = { tool_call_id: call.callId, function_name: call.name };
      const output = functionCallOutputs.find((one) => one?.callId === call.callId);
      rtvi.send("llm-function-call-started", { function_name: call.name });
      rtvi.send("llm-function-call-stopped", { ...about, cancelled: false, result: output?.output });
    }
  };
  const onMetrics = ({ metrics: figures }: voice.MetricsCollectedEvent): void =>
    tellMetrics(transport, figures);
  const onError = ({ error }: voice.ErrorEvent): void => {
    if (!isRecoverable(error)) rtvi.error(problemOf(error));
  };
  // A speech that must be heard to the end cannot be interrupted, which is all the refusal says.
  const onClientInterrupted = (): void => {
    try {
      session.interrupt();
    } catch {
      return;
    }
  };
  const onText: RtviEvents["send-text"] = ({ content, runImmediately, audioResponse }) => {
    if (runImmediately) answer({ userInput: content }, audioResponse);
    else addToContext("user", content);
  };
  const onAppend: RtviEvents["append-to-context"] = ({ role, content, run_immediately }) => {
    addToContext(role, typeof content === "string" ? content : JSON.stringify(content));
    if (run_immediately) answer({}, true);
  };

  function answer(to: { userInput?: string }, isSpoken: boolean): void {
    onClientInterrupted();
    const isSilent = !isSpoken && session.output.audioEnabled;
    try {
      if (isSilent) session.output.setAudioEnabled(false);
      const reply = session.generateReply(to);
      if (isSilent) reply.addDoneCallback(() => session.output.setAudioEnabled(true));
    } catch (error) {
      rtvi.error(problemOf(error)); // it is about to close
    }
  }

  function addToContext(role: "user" | "assistant", content: string): void {
    const agent = session.currentAgent;
    const context = agent.chatCtx.copy();
    context.addMessage({ role, content });
    agent.updateChatCtx(context).catch((error: unknown) => rtvi.error(problemOf(error)));
  }

  session.on(types.UserStateChanged, onUserState);
  session.on(types.UserInputTranscribed, onTranscribed);
  session.on(types.ConversationItemAdded, onItem);
  session.on(types.FunctionToolsExecuted, onTools);
  session.on(types.MetricsCollected, onMetrics);
  session.on(types.Error, onError);
  transport.on("client-interrupted", onClientInterrupted);
  rtvi.on("send-text", onText);
  rtvi.on("append-to-context", onAppend);
  return () => {
    session.off(types.UserStateChanged, onUserState);
    session.off(types.UserInputTranscribed, onTranscribed);
    session.off(types.ConversationItemAdded, onItem);
    session.off(types.FunctionToolsExecuted, onTools);
    session.off(types.MetricsCollected, onMetrics);
    transport.off("client-interrupted", onClientInterrupted);
    rtvi.off("send-text", onText);
    rtvi.off("append-to-context", onAppend);
    // Its error listener stays: without one, a model that fails late would throw.
  };
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
