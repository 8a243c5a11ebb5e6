import { parseRtviVersion, RTVI_VERSION } from "@vocalhost/protocol";

const NOTE = "Compatibility issues may occur.";

/** Returns an error message for a client with an incompatible protocol version; undefined for a compatible one. */
export function incompatibility(clientVersion: string | undefined): string | undefined {
  if (clientVersion === undefined) return `Client version unknown. ${NOTE}`;
  const parsed = parseRtviVersion(clientVersion);
  if (!parsed) return `Invalid client version format (${clientVersion}). ${NOTE}`;
  const ours = parseRtviVersion(RTVI_VERSION);
  if (parsed.major === ours?.major || parsed.major === 1) return undefined;
  return `RTVI version ${clientVersion} is not compatible with server protocol ${RTVI_VERSION}. ${NOTE}`;
}
