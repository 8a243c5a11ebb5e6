import type { Answerer } from "./answerer.ts";

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
  /** Of a call that we placed and wanted to know it of. */
  answeredBy?: Answerer;
  accountSid?: string;
  customParameters?: Record<string, unknown>;
}
