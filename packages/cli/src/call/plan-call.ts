import { carriers, type CarrierName } from "@vocalhost/protocol";
import { newCallIds, requireKeys, type CallDetails, type CarrierChoice } from "@vocalhost/simulator";
import type { CliConfig } from "../config.ts";
import { usageProblem } from "../problem.ts";
import { DEFAULT_STREAM_URL, type CallOptions } from "./call-options.ts";
import { parseEncoding, plivoFormat, telnyxFormat } from "./encoding.ts";

/** A call as it was asked for, before anybody was reached. */
export interface CallPlan {
  details: CallDetails;
  carrier: CarrierChoice;
  target: CallTarget;
  secret: string | undefined;
  /** What the carrier does differently from what was asked. */
  remarks: string[];
}

/** The bot's stream, or the webhook that knows it; `via` is the server to reach that stream by, if not itself. */
export type CallTarget =
  | { type: "stream"; url: string }
  | { type: "webhook"; url: string; via: string | undefined };

export function planCall(options: CallOptions, config: CliConfig): CallPlan {
  const { carrier: name } = options;
  if (options.botEncoding !== undefined && name !== "telnyx")
    throw usageProblem(
      `--bot-encoding is for telnyx; at ${carriers[name].title} both directions use the same encoding.`,
    );
  if (options.dtmf !== undefined) checkKeys(options.dtmf);
  const remarks: string[] = [];
  const ids = { ...newCallIds(name), ...accountOf(name, config) };
  const from = options.from ?? "+12025550143";
  const to = options.toNumber ?? "+12025550199";
  const parameters = readParameters(name, options.parameter);
  const target = readTarget(options);
  const secret = options.signingSecret ?? (name === "exotel" ? undefined : config[name].secret);
  // With a webhook, its XML would say this; the runner's own does.
  if (name === "twilio" && target.type === "stream")
    Object.assign(parameters, { from_number: from, to_number: to, ...parameters });
  if (target.type === "webhook" && options.parameter.length > 0 && name !== "exotel")
    remarks.push("--parameter has no effect here: with a webhook, its XML sets the parameters.");
  return {
    details: { ids, from, to, parameters },
    carrier: chooseCarrier(options, target.url),
    target,
    secret,
    remarks,
  };
}

function readTarget({ to, webhook }: CallOptions): CallTarget {
  const stream = checkedUrl("--to", to ?? DEFAULT_STREAM_URL, ["ws:", "wss:"]);
  if (webhook === undefined) return { type: "stream", url: stream };
  const url = checkedUrl("--webhook", webhook, ["http:", "https:"]);
  return { type: "webhook", url, via: to };
}

function checkedUrl(flag: string, url: string, schemes: string[]): string {
  if (URL.canParse(url) && schemes.includes(new URL(url).protocol)) return url;
  throw usageProblem(`${flag} wants an address that begins with ${schemes.join("// or ")}//, not "${url}".`);
}

function chooseCarrier(options: CallOptions, url: string): CarrierChoice {
  const { carrier: name } = options;
  const rateOfUrl = new URL(url).searchParams.get("sample-rate");
  const wanted = options.encoding ?? (name === "exotel" && rateOfUrl ? `PCM/${rateOfUrl}` : undefined);
  const encoding = parseEncoding(name, wanted);
  switch (name) {
    case "twilio":
      return { name };
    case "telnyx":
      return {
        name,
        uplink: telnyxFormat(encoding),
        downlink: telnyxFormat(parseEncoding(name, options.botEncoding)),
      };
    case "plivo":
      return { name, format: plivoFormat(encoding) };
    case "exotel":
      return { name, sampleRateHz: encoding.sampleRateHz };
    default:
      return name satisfies never;
  }
}

function checkKeys(keys: string): void {
  try {
    requireKeys(keys);
  } catch (error) {
    throw usageProblem(
      `--dtmf: ${(error as Error).message}.`,
      "Use 0-9, *, # and A-D; w waits half a second.",
    );
  }
}

function accountOf(name: CarrierName, config: CliConfig): { accountId?: string } {
  const accountId = name === "exotel" ? undefined : config[name].accountId;
  return accountId === undefined ? {} : { accountId };
}

function readParameters(carrier: CarrierName, given: readonly string[]): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const text of given) {
    const equals = text.indexOf("=");
    if (equals < 1) throw usageProblem(`--parameter expects name=value, not "${text}".`);
    parameters[text.slice(0, equals)] = text.slice(equals + 1);
  }
  checkLimits(carrier, parameters);
  return parameters;
}

/** What the carrier would not let through is not let through here. */
function checkLimits(carrier: CarrierName, parameters: Readonly<Record<string, string>>): void {
  const lengths = Object.entries(parameters).map(([name, value]) => name.length + value.length);
  const total = lengths.reduce((sum, length) => sum + length + 1, 0);
  if (carrier === "twilio" && lengths.some((length) => length > 500))
    throw usageProblem("Twilio allows 500 characters per parameter, name and value together.");
  if (carrier === "plivo" && total > 512) throw usageProblem("Plivo allows 512 bytes of extra headers.");
  if (carrier === "exotel" && (lengths.length > 3 || total > 256))
    throw usageProblem("Exotel allows 3 parameters with 256 characters in total.");
}
