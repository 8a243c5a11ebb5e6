import { parseWav, type AudioFrame } from "@vocalhost/audio";
import { z } from "zod";
import { Refusal, startVendor, type Vendor, type VendorRequest } from "./http-vendor.ts";
import type { ServerResponse } from "node:http";

const KEY = "sk-test";

const Call = z.strictObject({
  id: z.string().min(1),
  type: z.literal("function"),
  function: z.strictObject({ name: z.string().regex(/^[\w-]{1,64}$/), arguments: z.string() }),
});

const ChatMessage = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: z.string() }),
  z.strictObject({ role: z.literal("user"), content: z.string() }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.string().nullable(),
    tool_calls: z.array(Call).min(1).optional(),
  }),
  z.strictObject({ role: z.literal("tool"), tool_call_id: z.string(), content: z.string() }),
]);
export type ChatMessage = z.infer<typeof ChatMessage>;

const ChatRequest = z.strictObject({
  model: z.string(),
  messages: z.array(ChatMessage).min(1),
  stream: z.literal(true),
  stream_options: z.strictObject({ include_usage: z.literal(true) }),
  temperature: z.number().optional(),
  max_completion_tokens: z.number().int().optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        function: z.strictObject({
          name: z.string(),
          description: z.string(),
          parameters: z.looseObject({ type: z.literal("object") }),
        }),
      }),
    )
    .min(1)
    .optional(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

const SpeechRequest = z.strictObject({
  model: z.string(),
  voice: z.string(),
  input: z.string().min(1).max(4_096),
  response_format: z.literal("pcm"),
  instructions: z.string().optional(),
  speed: z.number().min(0.25).max(4).optional(),
});

export interface OpenAiStandIn extends Vendor {
  readonly chats: ChatRequest[];
  readonly transcribed: { audio: AudioFrame; fields: Record<string, string> }[];
  readonly spoken: string[];
  /** Bearer of every request. */
  readonly keys: string[];
}

export interface OpenAiScript {
  /** @default sk-test */
  key?: string;
  hear?(audio: AudioFrame): string;
  answer?(request: ChatRequest): string | { name: string; arguments: unknown }[];
  /** Answers everything with 500. */
  isFailing?: boolean;
}

/** OpenAI's chat completions, transcriptions and speech, as strict as the real ones where bots go wrong. */
export async function startOpenAi(script: OpenAiScript = {}): Promise<OpenAiStandIn> {
  const chats: ChatRequest[] = [];
  const transcribed: OpenAiStandIn["transcribed"] = [];
  const spoken: string[] = [];
  const keys: string[] = [];

  async function onRequest(request: VendorRequest, response: ServerResponse): Promise<void> {
    keys.push(/^Bearer (.*)$/.exec(request.headers.authorization ?? "")?.[1] ?? "");
    if (script.isFailing) throw new Refusal(500, "out of order");
    if (keys.at(-1) !== (script.key ?? KEY))
      throw new Refusal(401, `Incorrect API key provided: ${keys.at(-1)}`);
    if (request.method !== "POST") throw new Refusal(405, "Only POST");
    switch (request.url.pathname) {
      case "/v1/chat/completions":
        return chat(parsed(ChatRequest, request), response);
      case "/v1/audio/transcriptions":
        return transcribe(request, response);
      case "/v1/audio/speech":
        return speak(parsed(SpeechRequest, request).input, response);
      default:
        throw new Refusal(404, `No ${request.url.pathname} here`);
    }
  }

  function chat(request: ChatRequest, response: ServerResponse): void {
    refuseOpenCalls(request.messages);
    chats.push(request);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (chunk: object): unknown => response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    const delta = (change: object): unknown =>
      send({ object: "chat.completion.chunk", choices: [{ index: 0, delta: change, finish_reason: null }] });
    const answer = script.answer?.(request) ?? "Yes.";
    delta({ role: "assistant", content: "" });
    if (typeof answer === "string")
      for (const piece of answer.match(/.{1,7}/gs) ?? []) delta({ content: piece });
    else
      for (const [index, call] of answer.entries()) {
        // Arguments come in pieces, the rest with the first of them.
        const [first = "", ...rest] = JSON.stringify(call.arguments).match(/.{1,5}/gs) ?? [];
        delta({
          tool_calls: [
            {
              index,
              id: `call_${chats.length}_${index}`,
              type: "function",
              function: { name: call.name, arguments: first },
            },
          ],
        });
        for (const piece of rest) delta({ tool_calls: [{ index, function: { arguments: piece } }] });
      }
    send({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } });
    response.end("data: [DONE]\n\n");
  }

  async function transcribe(request: VendorRequest, response: ServerResponse): Promise<void> {
    const form = await new Response(new Uint8Array(request.body), {
      headers: { "content-type": request.headers["content-type"] ?? "" },
    }).formData();
    const file = form.get("file");
    if (!(file instanceof File)) throw new Refusal(400, "file is missing");
    const audio = parseWav(Buffer.from(await file.arrayBuffer()));
    const fields: Record<string, string> = {};
    for (const [name, value] of form.entries()) if (typeof value === "string") fields[name] = value;
    const unknown = Object.keys(fields).filter(
      (name) => !["model", "response_format", "language", "prompt"].includes(name),
    );
    if (unknown.length > 0) throw new Refusal(400, `Unknown parameter: ${unknown.join()}`);
    if (audio.samples.length < audio.sampleRateHz / 10) throw new Refusal(400, "Audio file is too short");
    transcribed.push({ audio, fields });
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ text: script.hear?.(audio) ?? "Hello." }));
  }

  function speak(input: string, response: ServerResponse): void {
    spoken.push(input);
    const samples = Int16Array.from({ length: input.length * 24 * 40 }, (_, at) =>
      Math.round(Math.sin(at / 8) * 9_000),
    );
    const bytes = Buffer.from(samples.buffer);
    response.writeHead(200, { "content-type": "audio/pcm" });
    // Pieces that cut samples in two, as networks do.
    for (let at = 0; at < bytes.length; at += 4_801) response.write(bytes.subarray(at, at + 4_801));
    response.end();
  }

  const vendor = await startVendor({ request: onRequest });
  return { ...vendor, url: `${vendor.url}/v1`, chats, transcribed, spoken, keys };
}

/** The real service answers 400 for calls that are not followed by a result each. */
function refuseOpenCalls(messages: readonly ChatMessage[]): void {
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.delete(message.tool_call_id))
        throw new Refusal(400, `Unexpected tool_call_id ${message.tool_call_id}`);
      continue;
    }
    if (open.size > 0) throw new Refusal(400, `tool_call_ids without a response: ${[...open].join()}`);
    open = new Set(message.role === "assistant" ? message.tool_calls?.map(({ id }) => id) : []);
  }
  if (open.size > 0) throw new Refusal(400, `tool_call_ids without a response: ${[...open].join()}`);
}

function parsed<T>(schema: z.ZodType<T>, request: VendorRequest): T {
  const result = schema.safeParse(JSON.parse(request.body.toString()));
  if (!result.success) throw new Refusal(400, z.prettifyError(result.error));
  return result.data;
}
