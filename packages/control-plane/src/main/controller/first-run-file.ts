/** The keys and links that the first start creates and shows once; scripts read them from `first-run.json`. */
export interface FirstRun {
  /** Ends in `/v1`. */
  apiUrl: string;
  dashboardUrl: string;
  organization: string;
  privateKey: string;
  publicKey: string;
  /** Makes its first visitor the owner; works for 24 hours. */
  ownerLink: string;
}

export const FIRST_RUN_FILE = "first-run.json";

/** Exists until the file above has been shown. */
export const NOT_SHOWN_FILE = "first-run-not-shown";
