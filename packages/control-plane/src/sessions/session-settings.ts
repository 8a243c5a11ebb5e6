import { readSettings, wholeNumber, yesOrNo, type Settings, type ValuesOf } from "@vocalhost/protocol";

const limit = wholeNumber({ min: 1, max: 1_000_000 });

/**
 * Sessions that may wait for their sockets at once: each is a row and a start body that cost the caller nothing. Clients
 * come within a second or two. One key must not be able to fill an agent's places alone, nor one caller those of a public
 * key: each may have as many as it leaves free.
 */
export const pendingSettings = {
  perKey: {
    name: "VOCALHOST_PENDING_PER_KEY",
    schema: limit.default(200),
    help: "sessions of one key that may wait for their WebSockets at once",
  },
  perAgent: {
    name: "VOCALHOST_PENDING_PER_AGENT",
    schema: limit.default(1_000),
    help: "the same of one agent, for all keys together; beyond either `TOO_MANY_PENDING`",
  },
} as const satisfies Settings;

export type PendingLimits = ValuesOf<typeof pendingSettings>;
export const defaultPendingLimits: PendingLimits = readSettings(pendingSettings, {});

export const startSettings = {
  queueMs: {
    name: "VOCALHOST_QUEUE_MS",
    schema: wholeNumber({ min: 0, max: 60_000 }).default(0),
    help: "how long a start waits for capacity before it is refused with 429",
  },
  takesPublicDialout: {
    name: "VOCALHOST_PUBLIC_DIALOUT",
    schema: yesOrNo.default(false),
    help: "lets public keys [place calls](../carriers/outbound.md#who-may), at the agents' cost",
  },
} as const satisfies Settings;
