import { z } from "zod";

/** Whom a STUN binding request at these addresses and this port reaches for the next seconds, if it gets there. */
export const MediaProbe = z.object({
  /** What callers are told; empty: the machine's own addresses. */
  addresses: z.array(z.string()),
  /** UDP ports that instances have; null: any. */
  ports: z.object({ first: z.number(), last: z.number() }).nullable(),
  /** Null when nobody can be asked. */
  port: z.number().nullable(),
  /** An instance that waits for its session, or a socket opened for this. `nobody`: every port is in use. */
  answeredBy: z.enum(["instance", "listener", "nobody"]),
});
export type MediaProbe = z.infer<typeof MediaProbe>;
