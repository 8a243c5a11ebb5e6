// Listens, thinks and answers with models behind any OpenAI-compatible service.
//   OPENAI_API_KEY    required            OPENAI_BASE_URL   https://api.openai.com/v1
//   STT_MODEL         whisper-1           LLM_MODEL         gpt-4o-mini
//   TTS_MODEL         tts-1               TTS_VOICE         alloy
import {
  createTransport,
  detectTurns,
  writeWav,
  type AudioFrame,
  type RunnerArguments,
  type Transport,
} from "vocalhost";

const PROMPT = "You talk with somebody on the phone. Answer in one to three short, plain sentences.";
const SPEECH_RATE_HZ = 24_000; // of the speech service's raw PCM

export function prewarm(): void {
  if (process.env["OPENAI_API_KEY"]) return;
  throw new Error(
    "This example needs a model service. Set OPENAI_API_KEY, in the environment or in .env, " +
      "and OPENAI_BASE_URL for a service other than OpenAI's.",
  );
}

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args, { audioOut: { sampleRateHz: SPEECH_RATE_HZ } });
  const messages: Message[] = [{ role: "system", content: PROMPT }];
  let answering = new AbortController();
  const say = (text: string): void => {
    answering.abort();
    answering = new AbortController();
    const signal = AbortSignal.any([answering.signal, args.signal]);
    answer(transport, messages, text, signal).catch((error: Error) => report(transport, error, signal));
  };
  transport.rtvi.on("send-text", ({ content }) => say(content));
  for await (const turn of detectTurns(transport)) {
    if (turn.type === "turn-start") answering.abort();
    else {
      const text = await transcribe(turn.audio, args.signal).catch((error: Error) =>
        report(transport, error),
      );
      if (!text) continue;
      transport.rtvi.userTranscription({ text, final: true });
      say(text);
    }
  }
}

async function answer(
  transport: Transport,
  messages: Message[],
  text: string,
  signal: AbortSignal,
): Promise<void> {
  messages.push({ role: "user", content: text });
  for await (const sentence of sentences(think(messages, signal))) {
    const speech = await speak(sentence, signal);
    const shown = transport.rtvi.botOutput(sentence);
    transport.audioOut.write(speech);
    messages.push({ role: "assistant", content: sentence });
    void transport.audioOut.drained({ signal }).then(shown.completed, () => undefined);
    await transport.audioOut.ready({ signal });
  }
}

async function transcribe(audio: AudioFrame, signal: AbortSignal): Promise<string> {
  const form = new FormData();
  form.set("model", setting("STT_MODEL", "whisper-1"));
  form.set("file", new Blob([new Uint8Array(writeWav(audio))], { type: "audio/wav" }), "turn.wav");
  const response = await ask("audio/transcriptions", form, signal);
  return ((await response.json()) as { text: string }).text.trim();
}

async function* think(messages: Message[], signal: AbortSignal): AsyncGenerator<string> {
  const request = { model: setting("LLM_MODEL", "gpt-4o-mini"), messages, stream: true };
  const response = await ask("chat/completions", request, signal);
  let rest = "";
  for await (const bytes of response.body ?? []) {
    const lines = (rest + Buffer.from(bytes).toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const data = line.replace(/^data: /, "").trim();
      if (data === "" || data === "[DONE]") continue;
      const chunk = JSON.parse(data) as { choices: { delta?: { content?: string } }[] };
      yield chunk.choices[0]?.delta?.content ?? "";
    }
  }
}

/** Speaking can begin with the first sentence while the rest is still being thought of. */
async function* sentences(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    const end = /[.!?]\s/.exec(text);
    if (!end) continue;
    yield text.slice(0, end.index + 1).trim();
    text = text.slice(end.index + 1);
  }
  if (text.trim()) yield text.trim();
}

async function speak(input: string, signal: AbortSignal): Promise<AudioFrame> {
  const request = {
    model: setting("TTS_MODEL", "tts-1"),
    voice: setting("TTS_VOICE", "alloy"),
    input,
    response_format: "pcm",
  };
  const bytes = await (await ask("audio/speech", request, signal)).arrayBuffer();
  return { samples: new Int16Array(bytes, 0, bytes.byteLength >> 1), sampleRateHz: SPEECH_RATE_HZ };
}

async function ask(path: string, body: FormData | object, signal: AbortSignal): Promise<Response> {
  const isForm = body instanceof FormData;
  const response = await fetch(`${setting("OPENAI_BASE_URL", "https://api.openai.com/v1")}/${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${process.env["OPENAI_API_KEY"]}`,
      ...(isForm ? {} : { "content-type": "application/json" }),
    },
    body: isForm ? body : JSON.stringify(body),
    signal: AbortSignal.any([signal, AbortSignal.timeout(30_000)]),
  });
  if (response.ok) return response;
  throw new Error(`${path} answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
}

function report(transport: Transport, error: Error, signal?: AbortSignal): undefined {
  if (signal?.aborted) return; // interrupted on purpose
  transport.rtvi.error(`The model service failed. ${error.message}`);
}

function setting(name: string, fallback: string): string {
  return process.env[name] || fallback;
}

interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
