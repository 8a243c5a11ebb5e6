import { carrierNames, carriers, type CarrierName } from "@vocalhost/carriers";
import { backgroundNames, parseSurroundings, simulatedCarriers } from "@vocalhost/simulator";
import {
  choice,
  flag,
  list,
  number,
  optionalChoice,
  optionalWord,
  parsed,
  parseDurationMs,
  parsePercent,
  text,
} from "../command-option.ts";
import type { ArgumentValues, OptionValues } from "../command-option.ts";

export const DEFAULT_STREAM_URL = "ws://localhost:7860/ws";

const withBotEncoding = carrierNames.filter((name) => simulatedCarriers[name].hasBotEncoding);
const signingSecrets = carrierNames.flatMap((name) => {
  const { signature } = carriers[name];
  return signature ? [signature.secretVariable ?? signature.variable] : [];
});

/** The options of `vocalhost call`. */
export const callOptions = {
  carrier: choice({
    values: carrierNames,
    default: "twilio",
    help: "carrier whose media stream to speak",
    short: "c",
  }),
  to: text({ takes: "url", help: `address of the bot's stream (default: ${DEFAULT_STREAM_URL})` }),
  webhook: text({
    takes: "url",
    help: "ask this webhook first, as the carrier does, and connect where it says (with --to: to that server)",
  }),
  from: text({ takes: "number", help: "caller's number (default: +12025550143)" }),
  toNumber: text({ takes: "number", help: "number to call (default: +12025550199)" }),
  say: list({
    takes: "file.wav",
    help: "what the caller says; repeat it for several turns, each after an answer",
    short: "s",
  }),
  microphoneLike: optionalChoice({
    values: backgroundNames,
    help: "background sound while the caller is silent",
  }),
  background: parsed({
    takes: "sound:level@start",
    parse: parseSurroundings,
    help: "sound around the caller: talker, babble, music or noise, so much below the voice: talker:10dB, talker:10dB@3s",
    short: "b",
  }),
  interruptAfter: number({
    takes: "time",
    parse: parseDurationMs,
    help: "interrupt: say the next file once the bot has talked this long",
  }),
  dtmf: text({ takes: "keys", help: "keys to press, one second into the call; w waits half a second" }),
  hangUpAfter: number({
    takes: "time",
    parse: parseDurationMs,
    help: "length of the call (default: until 5s of silence, at most 60s)",
  }),
  hangUpAfterSilence: number({
    takes: "time",
    parse: parseDurationMs,
    help: "hang up after silence of this length",
  }),
  record: text({ takes: "file.wav", help: "record what the caller hears", short: "r" }),
  recordBoth: text({ takes: "file.wav", help: "record both sides: caller left, bot right" }),
  encoding: text({
    takes: "codec",
    help: `${carrierNames.map(codecsOf).join("; ")}; with a rate: L16/16000`,
  }),
  botEncoding: text({
    takes: "codec",
    help: `${withBotEncoding.join(", ")}: codec the bot sends, if not the default`,
  }),
  jitter: number({
    takes: "time",
    parse: parseDurationMs,
    help: "delay the caller's audio by up to this much: 30ms",
  }),
  loss: number({ takes: "percent", parse: parsePercent, help: "drop this much of the caller's audio: 2%" }),
  seed: number({
    takes: "number",
    parse: Number,
    help: "seed of jitter and loss, to repeat a call (default: 1)",
  }),
  parameter: list({ takes: "name=value", help: "custom parameter of the stream", short: "p" }),
  apiKey: text({
    takes: "key",
    short: "k",
    help: "public key to call an agent with (default: the one kept by vocalhost keys create --default)",
  }),
  token: text({ takes: "token", help: "socket token; goes into the path of the address" }),
  signingSecret: text({
    takes: "secret",
    help: `secret the carrier signs with (default: from the environment, ${signingSecrets.join(", ")})`,
  }),
  publicUrl: text({ takes: "url", help: "address to sign for, if the bot's public address is another" }),
  expectAudio: flag({ help: "fail if the bot was never heard" }),
  strict: flag({ help: "fail if the bot broke the carrier's protocol" }),
  verbose: flag({ help: "show every event and message", short: "v" }),
};

function codecsOf(name: CarrierName): string {
  return `${name}: ${carriers[name].encodings.map(({ codec }) => codec).join(", ")}`;
}

export type CallOptions = OptionValues<typeof callOptions>;

export const callArguments = {
  agent: optionalWord({ help: "deployed agent to call; its address and a token are looked up" }),
};

export type CallArguments = ArgumentValues<typeof callArguments>;
