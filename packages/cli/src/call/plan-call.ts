import { carrierNames, carriers, type CarrierName } from "@vocalhost/carriers";
import {
  newCallIds,
  requireKeys,
  simulatedCarriers,
  type CallDetails,
  type CarrierChoice,
} from "@vocalhost/simulator";
import type { CliConfig } from "../config.ts";
import { usageProblem } from "../problem.ts";
import { DEFAULT_STREAM_URL, type CallOptions } from "./call-options.ts";

/** A call as the options describe it, before any connection. */
export interface CallPlan {
  details: CallDetails;
  carrier: CarrierChoice;
  target: CallTarget;
  secret: string | undefined;
  /** Remarks on how the carrier deviates from the options. */
  remarks: string[];
}

/** The bot's stream, or the webhook that knows it; `via` is the server to reach that stream by, if not itself. */
export type CallTarget =
  | { type: "stream"; url: string }
  | { type: "webhook"; url: string; via: string | undefined };

const withBotEncoding = carrierNames.filter((name) => simulatedCarriers[name].hasBotEncoding);

export function planCall(options: CallOptions, config: CliConfig): CallPlan {
  const { carrier: name } = options;
  if (options.botEncoding !== undefined && !simulatedCarriers[name].hasBotEncoding)
    throw usageProblem(
      `--bot-encoding is for ${withBotEncoding.join(", ")}; at ${carriers[name].title} both directions use the same encoding.`,
    );
  if (options.dtmf !== undefined) checkKeys(options.dtmf);
  const remarks: string[] = [];
  const ids = { ...newCallIds(name), ...accountOf(config[name]) };
  const from = options.from ?? "+12025550143";
  const to = options.toNumber ?? "+12025550199";
  const parameters = readParameters(name, options.parameter);
  const target = readTarget(options);
  const secret = options.signingSecret ?? config[name].secret;
  // With a webhook, its XML would say this; the runner's own does.
  if (target.type === "stream")
    Object.assign(parameters, { ...carriers[name].passedOn({ from, to }), ...parameters });
  if (target.type === "webhook" && options.parameter.length > 0 && carriers[name].answerXml)
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
  const { carrier: name, botEncoding } = options;
  const simulated = simulatedCarriers[name];
  const encoding = parseEncoding(name, options.encoding ?? simulated.encodingIn?.(new URL(url)));
  const ofBot = botEncoding === undefined ? undefined : parseEncoding(name, botEncoding);
  return { name, ...simulated.choose(encoding, ofBot) };
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

function accountOf({ accountId }: CliConfig[CarrierName]): { accountId?: string } {
  return accountId === undefined ? {} : { accountId };
}

function readParameters(carrier: CarrierName, given: readonly string[]): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const text of given) {
    const equals = text.indexOf("=");
    if (equals < 1) throw usageProblem(`--parameter expects name=value, not "${text}".`);
    parameters[text.slice(0, equals)] = text.slice(equals + 1);
  }
  // Parameters that the carrier would refuse are refused here.
  const refusal = simulatedCarriers[carrier].refusalOf?.(parameters);
  if (refusal !== undefined) throw usageProblem(refusal);
  return parameters;
}

/** `codec` or `codec/rate`, as in `L16/16000`. */
interface EncodingRequest {
  codec: string;
  sampleRateHz: number;
}

/** The values of `--encoding` for each carrier; the first is the default. */
function encodingsOf(carrier: CarrierName): string[] {
  return carriers[carrier].encodings.flatMap(({ codec, ratesHz }) =>
    ratesHz.map((rateHz) => `${codec}/${rateHz}`),
  );
}

/** Undefined is the carrier's default. A codec without a rate means its first rate. */
function parseEncoding(carrier: CarrierName, text: string | undefined): EncodingRequest {
  const known = encodingsOf(carrier);
  const [codec = "", rate] = (text ?? known[0] ?? "").split("/");
  const wanted = rate === undefined ? `${codec}/` : `${codec}/${rate}`;
  const found = known.find(
    (name) => name.toLowerCase().startsWith(wanted.toLowerCase()) && isWhole(name, wanted),
  );
  if (found === undefined)
    throw usageProblem(
      `${carriers[carrier].title} has no encoding "${text}".`,
      `It has: ${known.join(", ")}`,
    );
  const [foundCodec = "", foundRate] = found.split("/");
  return { codec: foundCodec, sampleRateHz: Number(foundRate) };
}

function isWhole(name: string, wanted: string): boolean {
  return wanted.endsWith("/") || name.length === wanted.length;
}
