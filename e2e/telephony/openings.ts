import type { CarrierName } from "@vocalhost/protocol";

/** The first text messages of each carrier. */
export function openingOf(carrier: CarrierName, callId: string): string[] {
  const messages: Record<CarrierName, object[]> = {
    twilio: [
      { event: "connected", protocol: "Call", version: "1.0.0" },
      {
        event: "start",
        sequenceNumber: "1",
        streamSid: "MZ1",
        start: { streamSid: "MZ1", accountSid: "AC1", callSid: callId },
      },
    ],
    telnyx: [
      { event: "connected", version: "1.0.0" },
      { event: "start", sequence_number: "1", stream_id: "st1", start: { call_control_id: callId } },
    ],
    plivo: [{ event: "start", sequenceNumber: 0, start: { callId, streamId: "st1" }, extra_headers: "{}" }],
    exotel: [
      { event: "connected" },
      {
        event: "start",
        sequence_number: "1",
        start: { stream_sid: "st1", call_sid: callId, account_sid: "ac1" },
      },
    ],
  };
  return messages[carrier].map((message) => JSON.stringify(message));
}
