import { readSettings, wholeNumber, type Settings, type ValuesOf } from "@vocalhost/protocol";

export const DAY_MS = 24 * 60 * 60 * 1000;
const SESSION_DAYS_MIN = 62; // months are closed within days; an open bill needs its sessions
const days = (min: number): ReturnType<typeof wholeNumber> => wholeNumber({ min, max: 36_500 });

/** Retention periods. Usage and bills are kept for ever. */
export const retentionSettings = {
  logDays: {
    name: "VOCALHOST_LOG_RETENTION_DAYS",
    schema: days(1).default(7),
    help: "how long the output of bots is kept",
  },
  sessionDays: {
    name: "VOCALHOST_SESSION_RETENTION_DAYS",
    schema: days(SESSION_DAYS_MIN).default(400), // a year's bills can still be explained
    help: `how long ended sessions are kept; at least ${SESSION_DAYS_MIN}, so that an open bill still has them`,
  },
  auditDays: {
    name: "VOCALHOST_AUDIT_RETENTION_DAYS",
    schema: days(1).default(400),
    help: "how long the audit trail is kept; ended keys stay as long, or as long as sessions if that is longer",
  },
  debrisDays: {
    name: "VOCALHOST_DEBRIS_RETENTION_DAYS",
    schema: days(1).default(30),
    help: "how long stopped instances, unused builds, deployments of deleted agents and sent exports are kept",
  },
  deploymentsPerAgent: {
    name: "VOCALHOST_DEPLOYMENTS_KEPT",
    schema: wholeNumber({ min: 1, max: 36_500 }).default(20),
    help: "newest deployments of an agent that can always be rolled back to",
  },
} as const satisfies Settings;

export type Retention = ValuesOf<typeof retentionSettings>;
export const defaultRetention: Retention = readSettings(retentionSettings, {});
