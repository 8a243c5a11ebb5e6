/** Returns the offer of a client with one data channel, reachable at this local port. */
export function offerOfChannel(port: number): string {
  return [
    "v=0",
    "o=- 1 2 IN IP4 127.0.0.1",
    "s=-",
    "t=0 0",
    "a=group:BUNDLE 0",
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
    "c=IN IP4 0.0.0.0",
    `a=candidate:1 1 UDP 2122260223 127.0.0.1 ${port} typ host`,
    "a=ice-ufrag:abcd",
    "a=ice-pwd:0123456789abcdef01234567",
    `a=fingerprint:sha-256 ${Array(32).fill("AB").join(":")}`,
    "a=setup:actpass",
    "a=mid:0",
    "a=sctp-port:5000",
    "",
  ].join("\r\n");
}
