// Placing a call
export { placeCall } from "./phone-call.ts";
export type { PhoneCall } from "./phone-call.ts";
export type { PlaceCallOptions } from "./place-call-options.ts";
export type { CallEvent, CallOutcome, HangUpReason } from "./place-call-options.ts";
export { openWebSocket } from "./place-call-options.ts";
export type { CallSocket } from "./place-call-options.ts";
export type { CallReport, CallSummary } from "./call-summary.ts";

// Carriers
export { createCarrier, newCallIds, simulatedCarriers } from "./carriers/create-carrier.ts";
export type { CarrierChoice } from "./carriers/create-carrier.ts";
export type { CallDetails, CallIds, Carrier } from "./carriers/carrier.ts";
export { AnswerError } from "./carriers/answer-element.ts";
export type { AnswerElement } from "./carriers/answer-element.ts";
export type { Violation, ViolationCode } from "./carriers/bot-message.ts";

// The caller
export { createConversation } from "./caller/conversation.ts";
export type { CallerVoice, LineMoment } from "./caller/conversation.ts";
export { backgroundNames, createBackground } from "./caller/background.ts";
export type { BackgroundName } from "./caller/background.ts";
export { isKey, keyTones, requireKeys } from "./caller/keypad.ts";
export { createSpeechLike } from "./caller/speech-like.ts";

// Sounds around the caller
export { createSurroundings, parseSurroundings, speechLevel } from "./surroundings/surroundings.ts";
export type { SurroundingsChoice, SurroundingsOptions } from "./surroundings/surroundings.ts";
export { surroundingNames } from "./surroundings/surrounding-names.ts";
export type { SurroundingName } from "./surroundings/surrounding-names.ts";

// Time
export { systemClock } from "./clock.ts";
export type { Clock } from "./clock.ts";
export { createVirtualClock } from "./clock.ts";
export type { VirtualClock } from "./clock.ts";

// Recordings
export { writeStereoWav } from "./stereo-wav.ts";
