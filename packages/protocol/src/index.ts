// Errors, ids, limits
export { AppError, errorTable, isAppError } from "./errors.ts";
export type { AppErrorOptions, ErrorBody, ErrorCode, ErrorRow, FieldProblem } from "./errors.ts";
export { newPeerId, newSessionId } from "./ids.ts";
export type { PeerId, SessionId } from "./ids.ts";
export { audioRatesHz, isAudioRate, limits } from "./limits.ts";

// Starting and reaching a session
export {
  CandidatesRequest,
  carrierNames,
  isCarrier,
  OfferRequest,
  reservedTransportNames,
  StartRequest,
  transportNames,
} from "./session-api.ts";
export type {
  CarrierName,
  IceCandidate,
  IceConfig,
  IceServer,
  OfferAnswer,
  StartAnswer,
  StatusAnswer,
  TransportName,
} from "./session-api.ts";

// What client and bot say to each other
export { clientMessages, parseRtviVersion, RTVI_LABEL, RTVI_VERSION, RtviMessage } from "./rtvi.ts";
export type {
  BotOutput,
  ClientAbout,
  ClientMessageData,
  ClientMessageType,
  MetricItem,
  Metrics,
  RtviVersion,
  ServerMessages,
  ServerMessageType,
} from "./rtvi.ts";
export { encodeFrame, FrameError, parseFrame } from "./frames.ts";
export type { Frame } from "./frames.ts";
