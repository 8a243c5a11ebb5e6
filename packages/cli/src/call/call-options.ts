import { backgroundNames, carrierNames } from "@vocalhost/simulator";
import {
  choice,
  flag,
  list,
  number,
  optionalChoice,
  parseDurationMs,
  parsePercent,
  text,
} from "../command-option.ts";
import type { OptionValues } from "../command-option.ts";

export const DEFAULT_STREAM_URL = "ws://localhost:7860/ws";

/** What `vocalhost call` can be told. */
export const callOptions = {
  carrier: choice({
    values: carrierNames,
    default: "twilio",
    help: "whose media stream to speak",
    short: "c",
  }),
  to: text({ takes: "url", help: `address of the bot's stream (default: ${DEFAULT_STREAM_URL})` }),
  webhook: text({
    takes: "url",
    help: "ask this webhook first, as the carrier does, and go where it says (with --to: to that server)",
  }),
  from: text({ takes: "number", help: "number of the caller (default: +12025550143)" }),
  toNumber: text({ takes: "number", help: "number that is called (default: +12025550199)" }),
  say: list({
    takes: "file.wav",
    help: "what to say; several are said in turn, each after an answer",
    short: "s",
  }),
  microphoneLike: optionalChoice({ values: backgroundNames, help: "what is heard while you are quiet" }),
  interruptAfter: number({
    takes: "time",
    parse: parseDurationMs,
    help: "say the next file when the bot has talked this long, instead of waiting for its end",
  }),
  dtmf: text({ takes: "keys", help: "keys to press, a second after the call stands; w waits half a second" }),
  hangUpAfter: number({
    takes: "time",
    parse: parseDurationMs,
    help: "stay this long (default: until 5 s of silence, at most 60s)",
  }),
  hangUpAfterSilence: number({
    takes: "time",
    parse: parseDurationMs,
    help: "hang up after this much silence",
  }),
  record: text({ takes: "file.wav", help: "record what the caller hears", short: "r" }),
  recordBoth: text({ takes: "file.wav", help: "record both sides: caller left, bot right" }),
  encoding: text({
    takes: "codec",
    help: "telnyx: PCMU, PCMA, L16; plivo: mulaw, L16; exotel: PCM; with a rate: L16/16000",
  }),
  botEncoding: text({ takes: "codec", help: "telnyx: what the bot sends, if not PCMU" }),
  jitter: number({
    takes: "time",
    parse: parseDurationMs,
    help: "bring your sound up to this much late: 30ms",
  }),
  loss: number({ takes: "percent", parse: parsePercent, help: "lose this much of your sound: 2%" }),
  seed: number({ takes: "number", parse: Number, help: "of jitter and loss, to repeat a call (default: 1)" }),
  parameter: list({ takes: "name=value", help: "custom parameter of the stream", short: "p" }),
  token: text({ takes: "token", help: "socket token; goes into the path of the address" }),
  signingSecret: text({
    takes: "secret",
    help: "what the carrier signs with: auth token (twilio, plivo) or private key (telnyx)",
  }),
  publicUrl: text({ takes: "url", help: "address to sign for, when the bot is known by another one" }),
  expectAudio: flag({ help: "fail when the bot was never heard" }),
  strict: flag({ help: "fail when the bot broke the carrier's protocol" }),
  verbose: flag({ help: "show every event and message", short: "v" }),
};

export type CallOptions = OptionValues<typeof callOptions>;
