/** Who calls whom, as the telephony carrier tells it. */
export interface CallData {
  streamId: string;
  callId: string;
  from: string | null;
  to: string | null;
  /** What the answer to the carrier's webhook passed on. */
  body: Record<string, unknown>;
  /** What the carrier sends us, where it is negotiated (Telnyx). */
  outboundEncoding?: string;
  accountSid?: string;
  customParameters?: Record<string, unknown>;
}
