import { isIP } from "node:net";

const CANDIDATE_MAX_CHARACTERS = 1024;

/**
 * Returns whether a client's candidate names a usable address. An empty candidate marks the end.
 * A host name would cause a DNS lookup chosen by the client. Browsers send ".local" names, and reach us from their
 * real address anyway.
 */
export function isUsableCandidate(candidate: string): boolean {
  const address = candidate.split(" ", 6)[4];
  return address !== undefined && isIP(address) !== 0 && candidate.length <= CANDIDATE_MAX_CHARACTERS;
}
