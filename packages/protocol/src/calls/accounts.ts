import type { CarrierName } from "../carriers.ts";

/** What lets us speak with the carriers' REST interfaces; each part is optional. */
export interface CarrierAccounts {
  twilio: { accountSid: string; authToken: string } | undefined;
  /** What it takes to call somebody is known only where calls are placed. */
  telnyx: { apiKey: string; accountSid?: string; applicationId?: string } | undefined;
  plivo: { authId: string; authToken: string } | undefined;
  exotel: { accountSid: string; apiKey: string; apiToken: string } | undefined;
  /** Whom calls come from, unless somebody says otherwise. */
  phoneNumbers: Partial<Record<CarrierName, string>>;
  /** Where the REST interfaces are. */
  addresses: CarrierAddresses;
}

export type CarrierAddresses = Record<CarrierName, string>;

type Variables = Record<string, string | undefined>;

/** The accounts that environment variables or secrets name. An account counts when all of it is set. */
export function readCarrierAccounts(variables: Variables, addresses: CarrierAddresses): CarrierAccounts {
  const { TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN, PLIVO_AUTH_ID, PLIVO_AUTH_TOKEN } = variables;
  const { TELNYX_API_KEY, TELNYX_ACCOUNT_SID, TELNYX_APPLICATION_ID } = variables;
  const { EXOTEL_ACCOUNT_SID, EXOTEL_API_KEY, EXOTEL_API_TOKEN } = variables;
  return {
    twilio:
      TWILIO_ACCOUNT_SID && TWILIO_AUTH_TOKEN
        ? { accountSid: TWILIO_ACCOUNT_SID, authToken: TWILIO_AUTH_TOKEN }
        : undefined,
    telnyx: TELNYX_API_KEY
      ? {
          apiKey: TELNYX_API_KEY,
          ...(TELNYX_ACCOUNT_SID ? { accountSid: TELNYX_ACCOUNT_SID } : {}),
          ...(TELNYX_APPLICATION_ID ? { applicationId: TELNYX_APPLICATION_ID } : {}),
        }
      : undefined,
    plivo:
      PLIVO_AUTH_ID && PLIVO_AUTH_TOKEN ? { authId: PLIVO_AUTH_ID, authToken: PLIVO_AUTH_TOKEN } : undefined,
    exotel:
      EXOTEL_ACCOUNT_SID && EXOTEL_API_KEY && EXOTEL_API_TOKEN
        ? { accountSid: EXOTEL_ACCOUNT_SID, apiKey: EXOTEL_API_KEY, apiToken: EXOTEL_API_TOKEN }
        : undefined,
    phoneNumbers: Object.fromEntries(
      Object.entries(PHONE_NUMBERS).flatMap(([carrier, variable]) =>
        variables[variable] ? [[carrier, variables[variable]]] : [],
      ),
    ),
    addresses,
  };
}

/** Where the carriers' REST interfaces are, unless variables say otherwise. */
export function readCarrierAddresses(variables: Variables): CarrierAddresses {
  return {
    twilio: withoutSlash(variables["TWILIO_API_URL"]) ?? twilioAddress(variables),
    telnyx: withoutSlash(variables["TELNYX_API_URL"]) ?? "https://api.telnyx.com",
    plivo: withoutSlash(variables["PLIVO_API_URL"]) ?? "https://api.plivo.com",
    exotel: withoutSlash(variables["EXOTEL_API_URL"]) ?? "https://api.exotel.com",
  };
}

/** What a carrier's account consists of, for whoever has none. */
export const accountVariables = {
  twilio: ["TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN"],
  telnyx: ["TELNYX_API_KEY", "TELNYX_ACCOUNT_SID", "TELNYX_APPLICATION_ID"],
  plivo: ["PLIVO_AUTH_ID", "PLIVO_AUTH_TOKEN"],
  exotel: ["EXOTEL_ACCOUNT_SID", "EXOTEL_API_KEY", "EXOTEL_API_TOKEN"],
} as const satisfies Record<CarrierName, readonly string[]>;

export const PHONE_NUMBERS = {
  twilio: "TWILIO_PHONE_NUMBER",
  telnyx: "TELNYX_PHONE_NUMBER",
  plivo: "PLIVO_PHONE_NUMBER",
  exotel: "EXOTEL_PHONE_NUMBER",
} as const satisfies Record<CarrierName, string>;

function twilioAddress({ TWILIO_EDGE, TWILIO_REGION }: Variables): string {
  return TWILIO_EDGE && TWILIO_REGION
    ? `https://api.${TWILIO_EDGE}.${TWILIO_REGION}.twilio.com`
    : "https://api.twilio.com";
}

function withoutSlash(url: string | undefined): string | undefined {
  return url ? url.replace(/\/+$/, "") : undefined;
}
