/** How long what grows is kept. Usage and bills are kept for ever. */
export interface Retention {
  /** Output of bots. */
  logDays: number;
  /** Ended sessions, and with them who was called when. */
  sessionDays: number;
  /** Instances that are gone, finished builds no deployment needs, answered exports. */
  debrisDays: number;
  /** Who changed what. */
  auditDays: number;
  /** Deployments of an agent that can be rolled back to, whatever their age. */
  deploymentsPerAgent: number;
}

export const defaultRetention: Retention = {
  logDays: 7,
  sessionDays: 400, // a year's bills can still be explained
  debrisDays: 30,
  auditDays: 400,
  deploymentsPerAgent: 20,
};

/** Months are closed within days; a bill that is still open needs its sessions. */
export const SESSION_DAYS_MIN = 62;

export const DAY_MS = 24 * 60 * 60 * 1000;
