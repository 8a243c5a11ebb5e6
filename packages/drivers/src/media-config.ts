import { isIP } from "node:net";

/** How calls reach instances. */
export interface MediaConfig {
  /** What clients are told instead of the instances' own addresses; empty: their own. */
  addresses: string[];
  /** Of UDP; an instance has one of them. @default any that is free */
  ports: { first: number; last: number } | undefined;
}

const LOWEST_PORT = 1_025; // the media library takes none below for a range

/** Throws an error whose message names the setting that is wrong. */
export function readMedia(text: (name: string) => string | undefined): MediaConfig {
  return { addresses: readAddresses(text("MEDIA_ADDRESS")), ports: readPorts(text("MEDIA_PORTS")) };
}

function readAddresses(text: string | undefined): string[] {
  const addresses = (text ?? "").split(",").flatMap((part) => part.trim() || []);
  for (const address of addresses)
    if (isIP(address) === 0)
      throw new Error(
        `VOCALHOST_MEDIA_ADDRESS must be the address under which callers reach this machine, such as 203.0.113.7, not a name: "${address}"`,
      );
  return addresses;
}

function readPorts(text: string | undefined): MediaConfig["ports"] {
  if (text === undefined) return undefined;
  const [, from = "", to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text.trim()) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (from !== "" && first >= LOWEST_PORT && last <= 65_535 && first <= last) return { first, last };
  throw new Error(
    `VOCALHOST_MEDIA_PORTS must be a range of UDP ports from ${LOWEST_PORT} to 65535, such as 40000-40199, got "${text}"`,
  );
}
