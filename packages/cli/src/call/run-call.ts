import { parseWav, writeWav, type AudioFrame } from "@vocalhost/audio";
import { carriers } from "@vocalhost/carriers";
import {
  createBackground,
  createCarrier,
  createConversation,
  createSpeechLike,
  createSurroundings,
  placeCall,
  speechLevel,
  writeStereoWav,
  type CallReport,
} from "@vocalhost/simulator";
import { readFile, writeFile } from "node:fs/promises";
import { readConfig } from "../config.ts";
import { unreachable } from "../connection-problem.ts";
import type { CommandContext } from "../define-command.ts";
import { exitCodes, Problem } from "../problem.ts";
import { shownUrl } from "../results.ts";
import { callAgent } from "./agent-call.ts";
import type { CallArguments, CallOptions } from "./call-options.ts";
import { describeReport } from "./describe-report.ts";
import { findStream, type BotStream } from "./find-stream.ts";
import { openSocket } from "./open-socket.ts";
import { planCall } from "./plan-call.ts";
import { startProgress } from "./show-progress.ts";

/** `vocalhost call` */
export async function run(options: CallOptions & CallArguments, context: CommandContext): Promise<number> {
  const { ui } = context;
  const sentences = await readSentences(options);
  const agentCall =
    options.agent === undefined ? undefined : await callAgent(options.agent, options, context);
  const plan = planCall({ ...options, to: agentCall?.url ?? options.to }, readConfig(process.cwd()));
  const stream = await findStream(plan, options, context);
  for (const remark of stream.remarks) ui.note(remark);
  const whom = agentCall ? `the agent '${options.agent}'` : shownUrl(stream.url);
  ui.note(`Calling ${whom} as ${carriers[stream.carrier.name].title} …`);
  const report = await conductCall(stream, sentences, options, context);
  await saveRecordings(options, report);
  const problem = (await agentCall?.problem()) ?? checkReport(report, options);
  if (context.isJson) {
    ui.print(
      JSON.stringify({
        ok: !problem,
        url: shownUrl(stream.url),
        ...(agentCall && { agent: options.agent, sessionId: agentCall.sessionId }),
        summary: report.summary,
        ...asJson(problem),
      }),
    );
    return problem?.exitCode ?? exitCodes.ok;
  }
  ui.print(describeReport(report, ui));
  for (const file of [options.record, options.recordBoth]) if (file) ui.print(`Recorded ${file}`);
  if (agentCall) ui.print(`Session ${agentCall.sessionId}`);
  if (problem) ui.problem(problem);
  return problem?.exitCode ?? exitCodes.ok;
}

const DEFAULT_SILENCE_MS = 5000;
const DEFAULT_MAX_CALL_MS = 60_000;
const DIGITS_AFTER = "ww"; // a second

async function conductCall(
  stream: BotStream,
  sentences: AudioFrame[],
  options: CallOptions,
  context: CommandContext,
): Promise<CallReport> {
  const carrier = createCarrier(stream.carrier, stream.details);
  const { sampleRateHz } = carrier.uplink;
  const background = createBackground({
    name: options.microphoneLike ?? "silence",
    sampleRateHz,
    ...(options.seed !== undefined && { seed: options.seed }),
  });
  using progress = startProgress({ ui: context.ui, isVerbose: options.verbose === true });
  const dialled = openSocket(stream);
  const call = placeCall({
    carrier,
    voice: createConversation({
      ...{ sampleRateHz, sentences, background },
      ...(options.interruptAfter !== undefined && { interruptAfterMs: options.interruptAfter }),
    }),
    ...surroundingsOf(options, sentences, sampleRateHz),
    openSocket: () => dialled.socket,
    onEvent: progress.onEvent,
    maxCallMs: options.hangUpAfter ?? DEFAULT_MAX_CALL_MS,
    hangUpAfterSilenceMs:
      options.hangUpAfterSilence ?? (options.hangUpAfter === undefined ? DEFAULT_SILENCE_MS : undefined),
    jitterMs: options.jitter,
    lossPercent: options.loss,
    seed: options.seed,
    signal: context.signal,
  });
  if (options.dtmf !== undefined) call.press(DIGITS_AFTER + options.dtmf);
  const report = await call.ended;
  if (report.outcome.type === "not-connected")
    throw dialled.problem ?? unreachable(stream.url, new DOMException("no answer", "TimeoutError"));
  return report;
}

function surroundingsOf(
  { background, seed }: CallOptions,
  [first]: AudioFrame[],
  sampleRateHz: number,
): { surroundings?: (samples: number) => Int16Array } {
  if (!background) return {};
  const voiceLevel = first && speechLevel(first.samples, first.sampleRateHz);
  return { surroundings: createSurroundings({ ...background, sampleRateHz, voiceLevel, seed }) };
}

async function saveRecordings(options: CallOptions, { heard, said }: CallReport): Promise<void> {
  if (options.record) await save(options.record, writeWav(heard));
  if (options.recordBoth) await save(options.recordBoth, writeStereoWav({ left: said, right: heard }));
}

async function save(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await writeFile(path, bytes);
  } catch (error) {
    throw new Problem("file_unwritable", `Cannot write ${path}`, {
      why: (error as Error).message,
      cause: error,
    });
  }
}

function asJson(problem: Problem | undefined): object {
  if (!problem) return {};
  const { code, message, why, fixes } = problem;
  return { problem: { code, message, why, fixes } };
}

/** Undefined when the call went as it should. */
export function checkReport(
  { outcome, summary }: Pick<CallReport, "outcome" | "summary">,
  expected: Pick<CallOptions, "expectAudio" | "strict">,
): Problem | undefined {
  if (outcome.type === "dropped" && outcome.reason === BOT_FAILED)
    return new Problem("bot_failed", `The bot failed ${Math.round(summary.durationMs)} ms into the call.`, {
      why: summary.firstAudioMs === undefined ? "It hung up before anything was heard of it." : "It hung up.",
      fixes: ["See the error in the bot's log."],
    });
  if (outcome.type === "dropped")
    return new Problem("dropped", `The connection broke with close code ${outcome.code}.`, {
      why: outcome.reason || CLOSE_CODES[outcome.code],
      fixes: ["Check the bot's log: it may have failed."],
    });
  if (expected.expectAudio && summary.firstAudioMs === undefined)
    return new Problem("no_audio", "The bot was never heard.", {
      why:
        summary.pacing.chunks > 0
          ? "It sent audio, but nothing in it was audible."
          : "It sent no audio the carrier could play.",
      fixes: summary.violations.length > 0 ? ["See the protocol violations above."] : [],
    });
  const violations = summary.violations.reduce((sum, { count }) => sum + count, 0);
  if (expected.strict && violations > 0)
    return new Problem(
      "protocol_violated",
      `The bot broke ${carriers[summary.carrier].title}'s protocol ${violations === 1 ? "once" : `${violations} times`}.`,
    );
  return undefined;
}

const BOT_FAILED = "bot failed"; // said by the session server with close code 1011
const CLOSE_CODES: Record<number, string> = {
  1002: "The other side reported a protocol error.",
  1006: "It ended without a closing handshake: the process may have ended, or the network failed.",
  1009: "A message was too large.",
  1011: "The other side failed.",
  1013: "The other side is overloaded.",
};

/** The caller's audio: the files, or speech-like sound when no option asks for anything else. */
async function readSentences({ say, microphoneLike }: CallOptions): Promise<AudioFrame[]> {
  if (say.length > 0) return Promise.all(say.map(readSentence));
  return microphoneLike === undefined ? [createSpeechLike()] : [];
}

async function readSentence(path: string): Promise<AudioFrame> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw new Problem("file_unreadable", `Cannot read ${path}`, {
      why: (error as Error).message,
      cause: error,
    });
  }
  try {
    return parseWav(bytes);
  } catch (error) {
    throw new Problem("file_not_wav", `Cannot use ${path}`, {
      why: (error as Error).message,
      fixes: [`Convert it, for example: sox ${path} -b 16 -e signed-integer sentence.wav`],
      cause: error,
    });
  }
}
