import { parseRtviVersion, RTVI_VERSION } from "@vocalhost/protocol";

const NOTE = "Compatibility issues may occur.";

/** What to tell a client whose protocol version is not ours; `undefined` when there is nothing to tell. */
export function incompatibility(clientVersion: string | undefined): string | undefined {
  if (clientVersion === undefined) return `Client version unknown. ${NOTE}`;
  const parsed = parseRtviVersion(clientVersion);
  if (!parsed) return `Invalid client version format (${clientVersion}). ${NOTE}`;
  const ours = parseRtviVersion(RTVI_VERSION);
  if (parsed.major === ours?.major || parsed.major === 1) return undefined;
  return `RTVI version ${clientVersion} is not compatible with server protocol ${RTVI_VERSION}. ${NOTE}`;
}
