import type { CarrierName } from "@vocalhost/protocol";

/** What lets us end calls and check who is calling; each part is optional. */
export interface TelephonyCredentials {
  twilio: { accountSid: string; authToken: string } | undefined;
  telnyx: { apiKey: string } | undefined;
  plivo: { authId: string; authToken: string } | undefined;
  /** Where the carriers' REST interfaces are. */
  addresses: { twilio: string; telnyx: string; plivo: string };
}

/** Of the carriers that sign: the variable with the key their webhooks and upgrades are checked with. */
export const signatureVariables = {
  twilio: "TWILIO_AUTH_TOKEN",
  telnyx: "TELNYX_PUBLIC_KEY", // base64 of the 32 bytes the Telnyx portal shows
  plivo: "PLIVO_AUTH_TOKEN",
} as const satisfies Partial<Record<CarrierName, string>>;

export type SignatureKeys = Partial<Record<keyof typeof signatureVariables, string>>;

type Environment = Record<string, string | undefined>;

export function readTelephonyCredentials(environment: Environment = process.env): TelephonyCredentials {
  const { TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN, TELNYX_API_KEY, PLIVO_AUTH_ID, PLIVO_AUTH_TOKEN } =
    environment;
  return {
    twilio:
      TWILIO_ACCOUNT_SID && TWILIO_AUTH_TOKEN
        ? { accountSid: TWILIO_ACCOUNT_SID, authToken: TWILIO_AUTH_TOKEN }
        : undefined,
    telnyx: TELNYX_API_KEY ? { apiKey: TELNYX_API_KEY } : undefined,
    plivo:
      PLIVO_AUTH_ID && PLIVO_AUTH_TOKEN ? { authId: PLIVO_AUTH_ID, authToken: PLIVO_AUTH_TOKEN } : undefined,
    addresses: {
      twilio: withoutSlash(environment["TWILIO_API_URL"]) ?? twilioAddress(environment),
      telnyx: withoutSlash(environment["TELNYX_API_URL"]) ?? "https://api.telnyx.com",
      plivo: withoutSlash(environment["PLIVO_API_URL"]) ?? "https://api.plivo.com",
    },
  };
}

export function readSignatureKeys(environment: Environment = process.env): SignatureKeys {
  return Object.fromEntries(
    Object.entries(signatureVariables).flatMap(([carrier, variable]) =>
      environment[variable] ? [[carrier, environment[variable]]] : [],
    ),
  );
}

function twilioAddress({ TWILIO_EDGE, TWILIO_REGION }: Environment): string {
  return TWILIO_EDGE && TWILIO_REGION
    ? `https://api.${TWILIO_EDGE}.${TWILIO_REGION}.twilio.com`
    : "https://api.twilio.com";
}

function withoutSlash(url: string | undefined): string | undefined {
  return url ? url.replace(/\/+$/, "") : undefined;
}
