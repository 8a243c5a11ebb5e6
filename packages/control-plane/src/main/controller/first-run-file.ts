/** What the first start makes and shows once; scripts read it from `first-run.json`. */
export interface FirstRun {
  /** Ends in `/v1`. */
  apiUrl: string;
  dashboardUrl: string;
  organization: string;
  privateKey: string;
  publicKey: string;
  /** Makes whoever opens it the owner; once, within 24 hours. */
  ownerLink: string;
}

export const FIRST_RUN_FILE = "first-run.json";

/** There until the above has been shown. */
export const NOT_SHOWN_FILE = "first-run-not-shown";
