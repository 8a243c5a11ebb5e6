import { CarrierError, carriers, type CarrierName, type RequestToSign } from "@vocalhost/carriers";
import { randomBytes } from "node:crypto";
import { usageProblem } from "../problem.ts";

/** Signs requests as the carrier does. Carriers always sign; whether the bot looks is its affair. */
export interface Signer {
  webhookHeaders(request: Omit<RequestToSign, "method">): Promise<Record<string, string>>;
  /** Headers of the WebSocket upgrade; `url` is the `wss://` address the carrier was given. */
  upgradeHeaders(url: string): Promise<Record<string, string>>;
  /** No secret was given, so a bot that checks signatures will refuse. */
  readonly isThrowaway: boolean;
  /** Environment variable the secret is read from; undefined where nothing is signed. */
  readonly variable: string | undefined;
  /** The name of the bot's setting that accepts the signature. */
  readonly counterpart: string;
}

/** `secret` is what the carrier signs with. */
export async function createSigner(carrier: CarrierName, secret: string | undefined): Promise<Signer> {
  const { signature } = carriers[carrier];
  const key = secret ?? randomBytes(32).toString("base64"); // what any of them takes
  const counterpart = signature?.counterpart
    ? await signature.counterpart(key).catch(mistypedKey)
    : `the same ${signature?.variable}`;
  return {
    isThrowaway: secret === undefined,
    variable: signature && (signature.secretVariable ?? signature.variable),
    counterpart,
    webhookHeaders: async (request) => (await signature?.sign({ method: "POST", ...request }, key)) ?? {},
    upgradeHeaders: async (url) =>
      signature?.signsUpgrades ? signature.sign({ method: "GET", url, form: "" }, key) : {},
  };
}

function mistypedKey(error: unknown): never {
  throw error instanceof CarrierError ? usageProblem(error.message) : error;
}
