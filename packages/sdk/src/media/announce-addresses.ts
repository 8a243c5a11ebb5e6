const HOST_PREFERENCE = 126 * 2 ** 24; // RFC 8445, 5.1.2.2
const FIRST_LOCAL_PREFERENCE = 65_535;

/** Replaces our host addresses by the announced ones. Clients try the first of these first. */
export function announceAddresses(sdp: string, addresses: readonly string[]): string {
  if (addresses.length === 0) return sdp;
  let isAnnounced = false;
  const lines = sdp.split("\r\n").flatMap((line) => {
    if (line.startsWith("m=")) isAnnounced = false;
    if (!line.startsWith("a=candidate:")) return [line];
    const [, component = "1", protocol = "UDP", , , port = "9", , type] = line.split(" ");
    if (type !== "host") return [line];
    if (isAnnounced) return []; // all of them have the same port
    isAnnounced = true;
    return addresses.map((address, at) => {
      const priority = HOST_PREFERENCE + (FIRST_LOCAL_PREFERENCE - at) * 256 + 255;
      return `a=candidate:h${at + 1} ${component} ${protocol} ${priority} ${address} ${port} typ host`;
    });
  });
  return lines.join("\r\n");
}
