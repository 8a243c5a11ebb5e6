import "./runtime/keep-compiled-code.ts";
// Writing a bot
export { defineBot } from "./bot/bot.ts";
export type { Bot, BotDefinition, Readiness } from "./bot/bot.ts";
export type {
  CommonArguments,
  RoomArguments,
  RunnerArguments,
  WebRtcArguments,
  WebSocketArguments,
} from "./bot/runner-arguments.ts";
export type { CallData } from "@vocalhost/carriers";
export { SessionEnded } from "./server/session-ended.ts";
export type { EndReason } from "./transports/session-hooks.ts";

// Hearing and speaking
export { createTransport } from "./transports/create-transport.ts";
export { joinRoom } from "./transports/join-room.ts";
export { bridge, type BridgeOptions } from "./transports/bridge.ts";
export type {
  AudioDrop,
  AudioInput,
  AudioInputBranch,
  AudioOutput,
  DialledParticipant,
  DialOptions,
  MessageChannelLike,
  Playback,
  RoomHearing,
  RoomParticipant,
  RoomSide,
  RoomSideEvents,
  Transport,
  TransportEvents,
  TransportOptions,
  WaitOptions,
} from "./transports/transport.ts";
export type { BotCapabilities, Invitation } from "@vocalhost/protocol";
export type { CollectedKeys, CollectOptions, DtmfInput } from "./transports/dtmf-input.ts";
export type { PhoneCall, TransferOptions } from "./transports/phone-call.ts";
export type { WebRtcConnection } from "./bot/runner-arguments.ts";

// Conversation events
export type {
  BotOutputOptions,
  ClientRequest,
  RtviEvents,
  RtviSession,
  SentFile,
  Transcription,
} from "./rtvi/rtvi-session.ts";
export type { SpokenSegment } from "./rtvi/bot-output.ts";

// Audio
export { FRAME_MS, frameMs, samplesIn } from "@vocalhost/audio";
export type { AudioFrame } from "@vocalhost/audio";
export { createResampler } from "@vocalhost/audio";
export type { Resampler } from "@vocalhost/audio";
export type { AudioFilter, FilterContext, OpenFilter } from "./filters/audio-filter.ts";
export { parseWav, writeWav } from "@vocalhost/audio";

// Detecting speech and turns
export { createVoiceActivityDetector } from "./speech/voice-activity.ts";
export type {
  VoiceActivity,
  VoiceActivityDetector,
  VoiceActivityDetectorOptions,
} from "./speech/voice-activity.ts";
export { createTurnDetector } from "./speech/turn-detector.ts";
export type {
  TurnDetector,
  TurnDetectorOptions,
  TurnEnd,
  TurnEvent,
  TurnStart,
} from "./speech/turn-detector.ts";
export { detectTurns } from "./speech/turns.ts";
export type { DetectTurnsOptions } from "./speech/turns.ts";

// Knowing what was heard
export { heardWords, timeWords } from "./speech/words.ts";
export type { TimedWord } from "./speech/words.ts";

// A whole conversation
export { createConversation } from "./conversation/conversation.ts";
export type {
  Conversation,
  ConversationEvents,
  ConversationOptions,
  Said,
  SayOptions,
  TurnOptions,
  RealtimeConversationOptions,
} from "./conversation/conversation-options.ts";
export { ServiceFailure, type Stage } from "./conversation/service-failure.ts";
export { createRealtimeConversation } from "./conversation/realtime.ts";
export type {
  SpeechModel,
  SpeechModelEvents,
  SpeechModelOptions,
  SpeechModelSession,
} from "./conversation/speech-model.ts";
export { tool } from "./conversation/tool.ts";
export type { Tool, ToolContext, Tools } from "./conversation/tool.ts";
export { transcribeEach } from "./conversation/transcribe-each.ts";
export type {
  AssistantMessage,
  LanguageModel,
  LanguageModelRequest,
  Message,
  SpeakOptions,
  SpeechToText,
  SpeechToTextOptions,
  SpeechToTextStream,
  SpokenWords,
  SystemMessage,
  TextToSpeech,
  TokenUsage,
  ToolCall,
  ToolDeclaration,
  ToolMessage,
  UserMessage,
} from "./conversation/services.ts";
export type { TurnFigures } from "./conversation/figures.ts";
export type { InterruptionOptions } from "./conversation/turn-taking.ts";
export { createSentenceSplitter } from "./conversation/split-sentences.ts";
export { spokenText } from "./conversation/spoken-text.ts";
export { adaptiveSilence, fixedSilence } from "./speech/end-of-turn.ts";
export type { AdaptiveSilenceOptions, EndOfTurn, TurnPause } from "./speech/end-of-turn.ts";
export { gateVolume } from "./speech/volume-gate.ts";
export type { VolumeGateOptions } from "./speech/volume-gate.ts";
export { backChannels } from "./speech/back-channels.ts";
/** The schema library that tools' arguments are declared with. */
export { z } from "zod";
