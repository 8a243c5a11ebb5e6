export {
  accountVariables,
  phoneNumberVariable,
  readCarrierAccounts,
  readCarrierAddresses,
  readSignatureKeys,
} from "./accounts.ts";
export type { SignatureKeys } from "./accounts.ts";
export { answerers } from "./carrier.ts";
export type { Answerer } from "./carrier.ts";
export type { CallData } from "./carrier.ts";
export { CarrierError } from "./carrier.ts";
export type {
  Carrier,
  CarrierEvent,
  CarrierMessage,
  DialOrder,
  RequestToSign,
  Rest,
  RestRequest,
  Signature,
  StreamAnswer,
  Transfer,
} from "./carrier.ts";
export {
  carrierAsking,
  carrierNames,
  carriers,
  checkSignature,
  isCarrier,
  openStream,
  restOf,
} from "./carriers.ts";
export type {
  CarrierAccounts,
  CarrierAddresses,
  CarrierName,
  CarrierStream,
  SignatureVerdict,
} from "./carriers.ts";
export { asMessage } from "./message.ts";
export type { SignedRequest } from "./signing.ts";
export type { WireFormat } from "./carrier.ts";
