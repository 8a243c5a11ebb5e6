export type { CallData } from "./call-data.ts";
export { CarrierError, asMessage } from "./carrier.ts";
export type {
  Carrier,
  CarrierEvent,
  CarrierMessage,
  CarrierStream,
  HangUp,
  KeySending,
  Transfer,
} from "./carrier.ts";
export { readSignatureKeys, readTelephonyCredentials, signatureVariables } from "./config.ts";
export type { SignatureKeys } from "./config.ts";
export { exotel } from "./exotel.ts";
export { plivo } from "./plivo.ts";
export { checkPlivoSignature, signPlivo } from "./signatures/plivo.ts";
export type { SignatureVerdict, SignedRequest } from "./signatures/signed-request.ts";
export { checkTelnyxSignature, ed25519Key } from "./signatures/telnyx.ts";
export { checkTwilioSignature, signTwilio } from "./signatures/twilio.ts";
export { telnyx } from "./telnyx.ts";
export { twilio } from "./twilio.ts";
export type { WireFormat } from "./wire-format.ts";
