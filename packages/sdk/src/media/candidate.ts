import { isIP } from "node:net";

const CANDIDATE_MAX_CHARACTERS = 1024;

/**
 * Whether a client's candidate names an address we can send to. An empty one marks the end. A name
 * would be looked up in a thread of its own, and whoever sent it would choose what we look up: browsers
 * send ".local" names, and reach us from their real address anyway.
 */
export function isUsableCandidate(candidate: string): boolean {
  const address = candidate.split(" ", 6)[4];
  return address !== undefined && isIP(address) !== 0 && candidate.length <= CANDIDATE_MAX_CHARACTERS;
}
