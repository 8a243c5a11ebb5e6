import type { CarrierName } from "@vocalhost/protocol";
import type { CallDetails } from "@vocalhost/simulator";

/** The fields each carrier is documented to send. Telnyx's look like Twilio's; only the ids differ. */
export function webhookFields(carrier: CarrierName, details: CallDetails): Record<string, string> {
  const { ids, from: From, to: To } = details;
  switch (carrier) {
    case "twilio":
      return {
        ...{ CallSid: ids.callId, AccountSid: ids.accountId, From, To },
        ...{ CallStatus: "ringing", Direction: "inbound", ApiVersion: "2010-04-01" },
      };
    case "telnyx":
      return {
        ...{ CallSid: ids.callId, CallSidLegacy: ids.callId, AccountSid: ids.accountId, From, To },
        ...{ CallStatus: "ringing", Direction: "inbound", ConnectionId: CONNECTION_ID },
      };
    case "plivo":
      return {
        CallUUID: ids.callId,
        From,
        To,
        Direction: "inbound",
        CallStatus: "ringing",
        Event: "StartApp",
      };
    case "exotel":
      return { CallSid: ids.callId, CallFrom: From, CallTo: To, Direction: "incoming" };
    default:
      return carrier satisfies never;
  }
}

const CONNECTION_ID = "1494404757140276705"; // of a Telnyx application; any number of that length
