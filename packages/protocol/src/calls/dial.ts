import { z } from "zod";
import { carriers, type CarrierName } from "../carriers.ts";
import { AppError } from "../errors.ts";
import { accountVariables, PHONE_NUMBERS, type CarrierAccounts } from "./accounts.ts";
import {
  askCarrier,
  basicAuthorization,
  formBody,
  refusalOf,
  type CarrierAnswer,
  type CarrierRequest,
} from "./carrier-request.ts";
import { streamXml } from "./stream-xml.ts";

const E164 = /^\+[1-9]\d{5,14}$/;
const SIP = /^sips?:[\w.+-]{1,64}@[A-Za-z0-9.-]{1,128}$/;

/** Whom a carrier can call: a number with its country code, or a SIP address. */
export const Callee = z.string().refine((text) => E164.test(text) || SIP.test(text), {
  error: "must be a phone number such as +15550100200, or a SIP address such as sip:desk@example.com",
});

/** A number of one's own at a carrier. */
export const CallerId = z
  .string()
  .regex(/^\+?\d{3,15}$/, { error: "must be a phone number of yours, such as +15550100200" });

/** A call the bot places, as a start request asks for it. */
export const Dialout = z.strictObject({
  to: Callee,
  /** One of your numbers at the carrier; by default the one that is configured. */
  from: CallerId.optional(),
  /** Find out whether a person or an answering machine took the call, before the bot begins. */
  machineDetection: z.boolean().optional(),
  /** How long it may ring. */
  ringSecs: z.number().int().min(5).max(120).optional(),
});
export type Dialout = z.infer<typeof Dialout>;

/** Answer of a start that called somebody: the session waits until they answer. */
export const Dialled = z.object({
  sessionId: z.uuid(),
  /** The carrier's name of the call, where it gives one at once. */
  callId: z.string().optional(),
  status: z.literal("dialling"),
});
export type Dialled = z.infer<typeof Dialled>;

/** What a call that is placed needs beside who is called. */
export interface DialOrder extends Dialout {
  /** Where the carrier streams the call to. */
  streamUrl: string;
  /** Where it asks what to do with the call once it is answered. */
  answerUrl: string;
}

/** Has a carrier call somebody. Throws what whoever asked for it is told. */
export async function placeCall(
  carrier: CarrierName,
  accounts: CarrierAccounts,
  order: DialOrder,
): Promise<{ callId: string | undefined }> {
  const request = dialRequest(carrier, accounts, order);
  const answer = await askCarrier(request);
  if (answer.status < 200 || answer.status > 299) throw refusalOf(request, answer, "the call");
  return { callId: callIdIn(answer) };
}

/** Throws unless the carrier can be asked for such a call at all. */
export function dialRequest(
  carrier: CarrierName,
  accounts: CarrierAccounts,
  order: DialOrder,
): CarrierRequest {
  const from = order.from ?? accounts.phoneNumbers[carrier];
  if (from === undefined)
    throw new AppError("GENERIC_BAD_REQUEST", {
      message: `Say whom the call comes from: dialout.from, or ${PHONE_NUMBERS[carrier]}`,
    });
  return REQUESTS[carrier](accounts, { ...order, from });
}

type Order = DialOrder & { from: string };

const REQUESTS: Record<CarrierName, (accounts: CarrierAccounts, order: Order) => CarrierRequest> = {
  twilio({ twilio, addresses }, { to, from, streamUrl, answerUrl, machineDetection, ringSecs }) {
    if (!twilio) throw notConfigured("twilio");
    const { accountSid, authToken } = twilio;
    return {
      carrier: "twilio",
      url: `${addresses.twilio}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Calls.json`,
      method: "POST",
      headers: {
        authorization: basicAuthorization(accountSid, authToken),
        "content-type": "application/x-www-form-urlencoded",
      },
      body: formBody({
        To: to,
        From: from,
        // Asked again when somebody answers, it can tell who did.
        ...(machineDetection
          ? { Url: answerUrl, Method: "POST", MachineDetection: "Enable" }
          : { Twiml: streamXml("twilio", { url: streamUrl, from, to }) }),
        Timeout: ringSecs?.toString(),
      }),
    };
  },
  telnyx({ telnyx, addresses }, { to, from, answerUrl, machineDetection, ringSecs }) {
    if (!telnyx?.accountSid || !telnyx.applicationId) throw notConfigured("telnyx");
    return {
      carrier: "telnyx",
      url: `${addresses.telnyx}/v2/texml/Accounts/${encodeURIComponent(telnyx.accountSid)}/Calls`,
      method: "POST",
      headers: { authorization: `Bearer ${telnyx.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        ApplicationSid: telnyx.applicationId,
        To: to,
        From: from,
        Url: answerUrl,
        UrlMethod: "POST",
        // Its detection tells the status callback, whose answer is what the call then does.
        ...(machineDetection
          ? {
              MachineDetection: "Enable",
              AsyncAmd: false,
              StatusCallback: answerUrl,
              StatusCallbackMethod: "POST",
            }
          : {}),
        ...(ringSecs === undefined ? {} : { Timeout: ringSecs }),
      }),
    };
  },
  plivo({ plivo, addresses }, { to, from, answerUrl, machineDetection, ringSecs }) {
    if (!plivo) throw notConfigured("plivo");
    const { authId, authToken } = plivo;
    return {
      carrier: "plivo",
      url: `${addresses.plivo}/v1/Account/${encodeURIComponent(authId)}/Call/`,
      method: "POST",
      headers: { authorization: basicAuthorization(authId, authToken), "content-type": "application/json" },
      body: JSON.stringify({
        from,
        to,
        answer_url: answerUrl,
        answer_method: "POST",
        ...(machineDetection ? { machine_detection: "true" } : {}),
        ...(ringSecs === undefined ? {} : { ring_timeout: ringSecs }),
      }),
    };
  },
  exotel({ exotel, addresses }, { to, from, streamUrl, machineDetection, ringSecs }) {
    if (!exotel) throw notConfigured("exotel");
    if (machineDetection)
      throw new AppError("GENERIC_BAD_REQUEST", {
        message: "Exotel does not tell answering machines apart: leave out machineDetection",
      });
    const { accountSid, apiKey, apiToken } = exotel;
    return {
      carrier: "exotel",
      url: `${addresses.exotel}/v1/Accounts/${encodeURIComponent(accountSid)}/Calls/connect.json`,
      method: "POST",
      headers: {
        authorization: basicAuthorization(apiKey, apiToken),
        "content-type": "application/x-www-form-urlencoded",
      },
      body: formBody({
        From: to, // whom it calls first, and here alone
        CallerId: from,
        StreamUrl: streamUrl,
        StreamType: "bidirectional",
        TimeOut: ringSecs?.toString(),
      }),
    };
  },
};

function notConfigured(carrier: CarrierName): AppError {
  const variables = accountVariables[carrier];
  const listed = `${variables.slice(0, -1).join(", ")} and ${variables.at(-1)}`;
  return new AppError("CARRIER_NOT_CONFIGURED", {
    message: `Calling over ${carriers[carrier].title} needs ${listed}`,
  });
}

function callIdIn({ text }: CarrierAnswer): string | undefined {
  try {
    const said = JSON.parse(text) as Record<string, unknown>;
    const { Sid } = (said["Call"] ?? {}) as Record<string, unknown>;
    const id = said["sid"] ?? said["call_sid"] ?? Sid; // Plivo's request_uuid names the request, not the call
    return typeof id === "string" ? id.slice(0, 256) : undefined;
  } catch {
    return undefined;
  }
}
