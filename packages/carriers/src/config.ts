import {
  readCarrierAccounts,
  readCarrierAddresses,
  type CarrierAccounts,
  type CarrierName,
} from "@vocalhost/protocol";

/** Of the carriers that sign: the variable with the key their webhooks and upgrades are checked with. */
export const signatureVariables = {
  twilio: "TWILIO_AUTH_TOKEN",
  telnyx: "TELNYX_PUBLIC_KEY", // base64 of the 32 bytes the Telnyx portal shows
  plivo: "PLIVO_AUTH_TOKEN",
} as const satisfies Partial<Record<CarrierName, string>>;

export type SignatureKeys = Partial<Record<keyof typeof signatureVariables, string>>;

type Environment = Record<string, string | undefined>;

/** What lets us call, transfer and hang up; each part is optional. */
export function readTelephonyCredentials(environment: Environment = process.env): CarrierAccounts {
  return readCarrierAccounts(environment, readCarrierAddresses(environment));
}

export function readSignatureKeys(environment: Environment = process.env): SignatureKeys {
  return Object.fromEntries(
    Object.entries(signatureVariables).flatMap(([carrier, variable]) =>
      environment[variable] ? [[carrier, environment[variable]]] : [],
    ),
  );
}
