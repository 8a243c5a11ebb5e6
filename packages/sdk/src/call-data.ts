/** Who calls whom, as the telephony carrier tells it. */
export interface CallData {
  streamId: string;
  callId: string;
  from: string | null;
  to: string | null;
  body: Record<string, unknown>;
}
