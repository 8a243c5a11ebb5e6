// A person talks behind the caller: without the voice filter that stops the bot in the middle, with it it does not.
import { createResampler, parseWav } from "@vocalhost/audio";
import {
  createCarrier,
  createConversation,
  createSurroundings,
  newCallIds,
  openWebSocket,
  placeCall,
  speechLevel,
} from "@vocalhost/simulator";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { patientMs } from "../../../testing/patience.ts";
import { size } from "../../../testing/sizes.ts";
import { eventually, pause, until } from "../../../testing/wait.ts";
import { vocalhost } from "../../cli/vocalhost-process.ts";
import { callBot, freePeerClients } from "../../harness/peer-client.ts";
import { startServiceProcess, type ServiceProcess } from "../../harness/service-process.ts";
import { openSocket } from "../../harness/socket-client.ts";
import { prepareCall, start } from "../../hosted/hosted-calls.ts";

/** A parrot as people write it: where the deployment has no filter, audio passes untouched. */
const PARROT = `
import { createTransport, detectTurns } from "vocalhost";
import { vivaFilter } from "vocalhost/filters";
export async function bot(args) {
  const { sampleRateHz = 16_000 } = args.body ?? {};
  const transport = await createTransport(args, { audioIn: { sampleRateHz, filter: vivaFilter() } });
  for await (const turn of detectTurns(transport))
    if (turn.type === "turn-end") transport.audioOut.write(turn.audio);
}
`;

const VOICE = new URL("../../../packages/sdk/src/speech/fixtures/table-for-two.wav", import.meta.url);
const WORDS_MS = [950, 3_650] as const; // of the recording; before it there is silence
const VOICE_MS = 4_400; // said again as far as this, so that the answer lasts until the talker goes on
// The caller speaks almost at once: a voice alone on the line for a second may be taken for the caller.
const VOICE_AT_MS = 500;
const CALL_MS = 12_000; // the talker pauses from 4.4 to 6.9 s, when the bot has begun to answer
const BELOW_DB = 10;
const PRO_HZ = 32_000;
const READY_MS = 20_000; // on a quiet machine at once
const ANSWER_MS = 6_000; // longer than an answer, and than the talker's pause
// Speech before the bot listens is lost.
const CLIENT_READY = {
  label: "rtvi-ai",
  type: "client-ready",
  id: "1",
  data: { version: "1.0.0", about: { library: "test" } },
};

const voice = readVoice();
let service: ServiceProcess;

const AGENTS = [
  { name: "plain", audioFilter: null, body: {} },
  { name: "with-tel", audioFilter: "tel", body: {} },
  { name: "with-pro", audioFilter: "pro", body: { sampleRateHz: PRO_HZ } },
] as const;

before(async () => {
  service = await startServiceProcess({ environment: { VOCALHOST_VIVA_ENGINE: "" } });
  for (const { name, audioFilter } of AGENTS.slice(0, size(2, AGENTS.length)))
    await service.deploy({ name, files: { "bot.ts": PARROT }, vendorViva: { audioFilter } });
});
after(async () => {
  freePeerClients();
  await service?.[Symbol.asyncDispose]();
});

// They mostly wait for a speaker to finish.
describe("with a talker in the background", { concurrency: 2 }, () => {
  for (const { name, audioFilter, body } of AGENTS.slice(0, size(2, AGENTS.length)))
    test(`${name} ${audioFilter ? "answers to the end" : "is interrupted"} over Twilio, WebRTC and WebSocket`, async () => {
      const calls = await Promise.all([
        callByTwilio(name, body),
        callByWebRtc(name, body),
        callByWebSocket(name, body),
      ]);
      for (const { over, sessionId, answers, interruptions } of calls) {
        assert.equal(interruptions > 0, audioFilter === null, `${over}: ${interruptions} interruptions`);
        if (audioFilter) assert.ok(answers > 0, `${over}: the caller got an answer`);
        await service.sessionEnded(sessionId);
        const { filter } = await service.api.sessions.get(name, sessionId);
        assert.equal(filter?.model ?? null, audioFilter, over);
        if (filter) assert.equal(filter.state, "ran", over);
      }
    });

  test("doctor calls an agent with and without its filter and tells the difference", async () => {
    const environment = { VOCALHOST_API_URL: service.apiUrl, VOCALHOST_API_KEY: service.privateKey };
    const desk = { folder: service.dataFolder, environment };
    const words = ["doctor", "--filter", "with-tel", "--api-key", service.publicKey, "--json"];
    const { exitCode, output, errors } = await vocalhost(desk, words);
    assert.equal(exitCode, 0, output + errors);
    const { hops } = JSON.parse(output) as { hops: { name: string; state: string; says: string }[] };
    assert.deepEqual(
      hops.map(({ name, state }) => [name, state]),
      ["filter setting", "filter engine", "with filter", "without filter"].map((name) => [name, "ok"]),
    );
    assert.match(hops[2]?.says ?? "", /^0 false interruptions .* dB removed$/);
    assert.match(hops[3]?.says ?? "", /^[1-9]\d* false interruptions? /);
    const { sessions } = await service.api.sessions.list("with-tel", { limit: 10 });
    assert.ok(sessions.some(({ filter }) => (filter?.bypassedSeconds ?? 0) > 5));
  });
});

interface Call {
  over: string;
  sessionId: string;
  answers: number;
  interruptions: number;
}

async function callByTwilio(agent: string, body: object): Promise<Call> {
  const { sessionId, wsUrl, token } = await prepareCall(service, agent, { transport: "twilio", body });
  const details = { ids: newCallIds("twilio"), from: "+12025550143", to: "+12025550199", parameters: {} };
  const carrier = createCarrier({ name: "twilio" }, details);
  const { sampleRateHz } = carrier.uplink;
  let isAnswered = false;
  const call = placeCall({
    carrier,
    onEvent({ type }) {
      if (type !== "bot-speech-start" || isAnswered) return;
      isAnswered = true;
      setTimeout(() => call.hangUp(), ANSWER_MS);
    },
    openSocket: () => openWebSocket(token ? `${wsUrl}/${token}` : wsUrl),
    voice: createConversation({ sampleRateHz, sentences: [voice] }),
    surroundings: talkerAt(sampleRateHz),
    connectTimeoutMs: patientMs(READY_MS),
    maxCallMs: patientMs(READY_MS) + CALL_MS,
  });
  const { outcome, summary } = await call.ended;
  assert.equal(outcome.type, "hung-up", JSON.stringify(outcome));
  return {
    over: "Twilio",
    sessionId,
    answers: isAnswered ? 1 : 0,
    interruptions: summary.falseInterruptions,
  };
}

async function callByWebRtc(agent: string, body: object): Promise<Call> {
  const authorization = `Bearer ${service.publicKey}`;
  let sessionId = "";
  using peer = await callBot({
    port: Number(new URL(service.apiUrl).port),
    headers: { authorization },
    path: async () => {
      const answer = await start(service, agent, { transport: "webrtc", body });
      ({ sessionId } = (await answer.json()) as { sessionId: string });
      return `/v1/public/${agent}/sessions/${sessionId}/api/offer`;
    },
  });
  const messages = (): Message[] => peer.texts.map((text) => JSON.parse(text) as Message);
  peer.sendText(JSON.stringify(CLIENT_READY));
  await until(() => messages().some(({ type }) => type === "bot-ready"), READY_MS, "bot over WebRTC");
  await peer.say(heardAt(48_000));
  const { state } = peer;
  await firstAnswer("WebRTC", {
    sessionId,
    messages,
    line: () => `${peer.state}, ${state} when all was said`,
  });
  return { over: "WebRTC", sessionId, ...counted(messages()) };
}

async function callByWebSocket(agent: string, body: object): Promise<Call> {
  const { sessionId, url } = await prepareCall(service, agent, { body });
  using client = await openSocket(url);
  client.sendMessage(CLIENT_READY);
  await client.message("bot-ready", READY_MS);
  const samples = heardAt(16_000);
  const startMs = performance.now();
  for (let at = 0; at < samples.length; at += 320) {
    client.sendAudio(samples.subarray(at, at + 320), 16_000);
    await pause(Math.max(0, startMs + (at + 320) / 16 - performance.now()));
  }
  await firstAnswer("WebSocket", { sessionId, messages: () => client.messages });
  return { over: "WebSocket", sessionId, ...counted(client.messages) };
}

interface Message {
  type?: string;
}

/** Waits until it was played to its end, or cut off: on a busy machine even before its first sound. */
async function firstAnswer(
  over: string,
  { sessionId, messages, line }: { sessionId: string; messages: () => Message[]; line?: () => string },
): Promise<void> {
  await eventually({
    what: `answer over ${over}`,
    look: () => messages().map(({ type }) => type),
    until: (seen) => seen.includes("bot-stopped-speaking") || seen.includes("bot-interrupted"),
    quietMs: READY_MS,
  }).catch((error: unknown) => {
    const known = [String(error), line?.() ?? "", service.knownOf(sessionId)].join("\n");
    throw new Error(known, { cause: error });
  });
}

function counted(messages: Message[]): { answers: number; interruptions: number } {
  const count = (wanted: string): number => messages.filter(({ type }) => type === wanted).length;
  return { answers: count("bot-started-speaking"), interruptions: count("bot-interrupted") };
}

/** Everything a microphone hears in a call: the talker, and in front of it the caller's one sentence. */
function heardAt(sampleRateHz: number): Int16Array {
  const sound = talkerAt(sampleRateHz)((CALL_MS * sampleRateHz) / 1_000);
  const resampler = createResampler({ fromHz: voice.sampleRateHz, toHz: sampleRateHz });
  const sentence = voice.sampleRateHz === sampleRateHz ? voice.samples : resampler.process(voice.samples);
  const from = (VOICE_AT_MS * sampleRateHz) / 1_000;
  for (const [at, sample] of sentence.entries()) sound[from + at] = (sound[from + at] ?? 0) + sample;
  return sound;
}

function talkerAt(sampleRateHz: number): (samples: number) => Int16Array {
  const voiceLevel = speechLevel(voice.samples, voice.sampleRateHz);
  return createSurroundings({ name: "talker", belowDb: BELOW_DB, sampleRateHz, voiceLevel });
}

function readVoice() {
  const { samples, sampleRateHz } = parseWav(readFileSync(VOICE));
  const [from, to] = WORDS_MS.map((ms) => (ms * sampleRateHz) / 1_000);
  const words = samples.slice(from, to);
  const length = (VOICE_MS * sampleRateHz) / 1_000;
  return { samples: Int16Array.from({ length }, (_, at) => words[at % words.length]!), sampleRateHz };
}
