import type { SessionFilter } from "@vocalhost/protocol";
import {
  createCarrier,
  createConversation,
  createSpeechLike,
  createSurroundings,
  newCallIds,
  placeCall,
  speechLevel,
  type CallSummary,
} from "@vocalhost/simulator";
import { setTimeout as pause } from "node:timers/promises";
import { openSocket } from "../call/open-socket.ts";
import { createSigner } from "../webhook/signer.ts";
import type { CallableService } from "../service/callable-service.ts";

/** The result of one call with a talker in the background. */
export interface FilterCall {
  /** When the talker began: before, during or after the caller's sentence. */
  talker: TalkerStart;
  summary: CallSummary;
  /** From the session's record. */
  filter: SessionFilter | null;
  /** Whether the filter was switched off for this call. */
  wasBypassed: boolean;
}

const CALL_MS = 12_000; // the caller's sentence, an answer to it, and twice the talker
const BELOW_DB = 10;
const MS = 1_000;

/** When the talker begins. The caller's sentence lasts from about 1.0 to 2.6 s. */
export const talkerStarts = { before: 0, during: 1.8 * MS, after: 3.2 * MS } as const;
export type TalkerStart = keyof typeof talkerStarts;
const SWITCH_EVERY_MS = 100;
const RECORD_MAX_MS = 15_000;
const RECORD_EVERY_MS = 250;

/** Calls an agent from a room with a talker in it. With `bypass` the bot hears the raw audio. */
export async function placeFilterCall(
  service: CallableService,
  agent: string,
  { talker, bypass, signal }: { talker: TalkerStart; bypass: boolean; signal: AbortSignal },
): Promise<FilterCall> {
  const { sessionId, url } = await service.prepare(agent, "twilio");
  const details = { ids: newCallIds("twilio"), from: "+12025550143", to: "+12025550199", parameters: {} };
  const carrier = createCarrier({ name: "twilio" }, details);
  const { sampleRateHz } = carrier.uplink;
  const sentence = createSpeechLike();
  const signer = await createSigner("twilio", undefined);
  const dialled = openSocket({ url, headers: {}, carrier: { name: "twilio" }, details, signer, remarks: [] });
  const call = placeCall({
    carrier,
    voice: createConversation({ sampleRateHz, sentences: [sentence] }),
    surroundings: createSurroundings({
      ...{ name: "talker", belowDb: BELOW_DB, startMs: talkerStarts[talker], sampleRateHz },
      voiceLevel: speechLevel(sentence.samples, sentence.sampleRateHz),
    }),
    openSocket: () => dialled.socket,
    maxCallMs: CALL_MS,
    signal,
  });
  const over = new AbortController();
  const switching = bypass
    ? switchOff(service, { agent, sessionId, until: AbortSignal.any([signal, over.signal]) })
    : false;
  const { outcome, summary } = await call.ended;
  over.abort();
  signal.throwIfAborted();
  if (outcome.type === "not-connected") throw dialled.problem ?? new Error("Nobody answered");
  return {
    talker,
    summary,
    wasBypassed: await switching,
    filter: await recordOf(service, agent, sessionId),
  };
}

/** As soon as the bot has attached the filter; false if it never did. */
async function switchOff(
  service: CallableService,
  { agent, sessionId, until }: { agent: string; sessionId: string; until: AbortSignal },
): Promise<boolean> {
  while (!until.aborted) {
    if (await service.bypass(agent, sessionId)) return true;
    await pause(SWITCH_EVERY_MS, undefined, { signal: until }).catch(() => undefined);
  }
  return false;
}

async function recordOf(
  { api }: CallableService,
  agent: string,
  sessionId: string,
): Promise<SessionFilter | null> {
  const deadlineMs = performance.now() + RECORD_MAX_MS;
  for (;;) {
    const { filter, endedAt } = await api.sessions.get(agent, sessionId);
    if (endedAt !== null || performance.now() > deadlineMs) return filter;
    await pause(RECORD_EVERY_MS);
  }
}
