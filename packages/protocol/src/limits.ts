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
} as const;
