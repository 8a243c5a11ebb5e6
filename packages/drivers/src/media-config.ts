import { list, parsedBy, type Settings, type ValuesOf } from "@vocalhost/protocol";
import { isIP } from "node:net";
import { z } from "zod";

const LOWEST_PORT = 1_025; // the media library takes none below for a range

export const mediaSettings = {
  /** Empty: clients are told the instances' own addresses. */
  addresses: {
    name: "VOCALHOST_MEDIA_ADDRESS",
    schema: list
      .refine(
        (addresses) => addresses.every((address) => isIP(address) > 0),
        "must be the address at which callers reach this machine, such as 203.0.113.7, not a name",
      )
      .default([]),
    preset: "the machine's own",
    help: "address that WebRTC callers are told; several with commas",
  },
  /** UDP; an instance has one of them. */
  ports: {
    name: "VOCALHOST_MEDIA_PORTS",
    schema: z
      .string()
      .regex(/^\s*\d{1,5}(-\d{1,5})?\s*$/, rangeMessage())
      .pipe(parsedBy(parsePorts))
      .optional(),
    preset: "any",
    help: "UDP ports for WebRTC audio such as `40000-40199`, one for each instance; see [media.md](media.md)",
  },
} as const satisfies Settings;

export type MediaConfig = ValuesOf<typeof mediaSettings>;

function parsePorts(text: string): { first: number; last: number } {
  const [first = 0, last = first] = text.split("-").map(Number);
  if (first >= LOWEST_PORT && last <= 65_535 && first <= last) return { first, last };
  throw new Error(rangeMessage());
}

function rangeMessage(): string {
  return `must be a range of UDP ports from ${LOWEST_PORT} to 65535, such as 40000-40199`;
}
