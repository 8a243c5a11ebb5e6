import type { CarrierName } from "@vocalhost/protocol";
import { generateKeyPairSync, randomBytes, type KeyObject } from "node:crypto";
import {
  parseEd25519Key,
  publicHalf,
  signPlivo,
  signTelnyx,
  signTwilio,
  type FormFields,
} from "./signatures.ts";

/** Signs requests as the carrier does. Carriers always sign; whether the bot looks is its affair. */
export interface Signer {
  webhookHeaders(request: SignedRequest): Record<string, string>;
  /** Headers of the WebSocket upgrade; `url` is the `wss://` address the carrier was given. */
  upgradeHeaders(url: string): Record<string, string>;
  /** Nobody gave a secret, so that a bot which does look will refuse. */
  readonly isThrowaway: boolean;
  /** Environment variable the secret is read from; undefined where nothing is signed. */
  readonly variable: string | undefined;
  /** What the bot must know to accept the signature. */
  readonly counterpart: string;
}

export interface SignedRequest {
  url: string;
  fields: FormFields;
  /** As it is sent. */
  body: string;
}

/** `secret` is Twilio's or Plivo's auth token, or Telnyx's private key. */
export function createSigner(carrier: CarrierName, secret: string | undefined): Signer {
  const isThrowaway = secret === undefined;
  const token = secret ?? randomBytes(16).toString("hex");
  switch (carrier) {
    case "twilio":
      return {
        isThrowaway,
        variable: "TWILIO_AUTH_TOKEN",
        counterpart: "the same TWILIO_AUTH_TOKEN",
        webhookHeaders: ({ url, fields }) => ({ "x-twilio-signature": signTwilio(token, url, fields) }),
        upgradeHeaders: (url) => ({ "x-twilio-signature": signTwilio(token, url) }),
      };
    case "plivo":
      return {
        isThrowaway,
        variable: "PLIVO_AUTH_TOKEN",
        counterpart: "the same PLIVO_AUTH_TOKEN",
        webhookHeaders: ({ url, fields }) => plivoHeaders(token, url, fields),
        upgradeHeaders: () => ({}),
      };
    case "telnyx": {
      const key = secret === undefined ? generateKeyPairSync("ed25519").privateKey : parseEd25519Key(secret);
      return {
        isThrowaway,
        variable: "TELNYX_PRIVATE_KEY",
        counterpart: `TELNYX_PUBLIC_KEY=${publicHalf(key)}`,
        webhookHeaders: ({ body }) => telnyxHeaders(key, body),
        upgradeHeaders: () => ({}),
      };
    }
    case "exotel":
      return {
        isThrowaway,
        variable: undefined,
        counterpart: "",
        webhookHeaders: () => ({}),
        upgradeHeaders: () => ({}),
      };
    default:
      return carrier satisfies never;
  }
}

function plivoHeaders(token: string, url: string, fields: FormFields): Record<string, string> {
  const nonce = randomBytes(10).readBigUInt64BE().toString();
  return {
    "x-plivo-signature-v3": signPlivo(token, { url, fields, nonce }),
    "x-plivo-signature-v3-nonce": nonce,
  };
}

function telnyxHeaders(key: KeyObject, body: string): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000).toString();
  return { "telnyx-timestamp": timestamp, "telnyx-signature-ed25519": signTelnyx(key, timestamp, body) };
}
