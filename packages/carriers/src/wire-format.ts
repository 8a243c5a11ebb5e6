/** How audio looks inside a carrier's messages. */
export interface WireFormat {
  /** `pcm` is 16 bits, little end first; `pcm-network` big end first, as in RTP. */
  encoding: "mulaw" | "alaw" | "pcm" | "pcm-network";
  sampleRateHz: number;
}
