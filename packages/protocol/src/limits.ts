/** Sizes a peer may count on and must not exceed. */
export const limits = {
  jsonBodyBytes: 1024 * 1024,
  websocketStartBodyBytes: 4 * 1024, // travels in a URL when hosted
  jsonDepth: 64,
  sdpBytes: 64 * 1024,
  sdpMediaLines: 8,
  sdpCandidates: 100,
  audioFrameBytes: 64 * 1024,
  socketMessageBytes: 1024 * 1024, // what released WebSocket clients may send at once
  dataChannelMessageBytes: 64 * 1024,
  roomTokenCharacters: 16 * 1024,
} as const;

/** Rates at which clients may send audio. A closed list, because each costs the receiver a filter. */
export const audioRatesHz = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;

export function isAudioRate(sampleRateHz: number): boolean {
  return (audioRatesHz as readonly number[]).includes(sampleRateHz);
}
