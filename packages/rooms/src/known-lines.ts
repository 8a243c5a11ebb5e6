// The library or our code acts on these. Transport attributes first, then those of data channels, then of audio and video.
const KNOWN_ATTRIBUTES = new Set([
  ...[
    "bundle-only",
    "candidate",
    "end-of-candidates",
    "fingerprint",
    "group",
    "ice-lite",
    "ice-options",
    "ice-pwd",
    "ice-ufrag",
  ],
  ...["inactive", "mid", "recvonly", "rtcp", "rtcp-mux", "rtcp-rsize", "sendonly", "sendrecv", "setup"],
  ...["max-message-size", "sctp-port"],
  ...[
    "extmap",
    "fmtp",
    "maxptime",
    "msid",
    "msid-semantic",
    "ptime",
    "rid",
    "rtcp-fb",
    "rtpmap",
    "simulcast",
  ],
  ...["ssrc", "ssrc-group"],
]);

/**
 * Removes unknown attributes from a description. The library would repeat them in its answer, and the client would take
 * them as agreed: after an echoed `sctp-init` it skips the handshake that data channels begin with.
 */
export function knownLines(sdp: string): string {
  return sdp
    .split("\r\n")
    .filter((line) => !line.startsWith("a=") || KNOWN_ATTRIBUTES.has(/^[^:]*/.exec(line.slice(2))?.[0] ?? ""))
    .join("\r\n");
}
