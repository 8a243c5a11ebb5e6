import type { WebSocket } from "ws";
import { z } from "zod";
import { createPhrases } from "../voice-stand-ins.ts";
import { createTurnHearing, humOf } from "./hear-turns.ts";
import { startVendor, type Vendor } from "./http-vendor.ts";

const Format = z.strictObject({ type: z.literal("audio/pcm"), rate: z.literal(24_000) });
const ClientEvent = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("session.update"),
    session: z.strictObject({
      type: z.literal("realtime"),
      output_modalities: z.tuple([z.literal("audio")]),
      instructions: z.string().optional(),
      audio: z.strictObject({
        input: z.strictObject({
          format: Format,
          transcription: z.strictObject({ model: z.string() }),
          turn_detection: z.strictObject({
            type: z.enum(["semantic_vad", "server_vad"]),
            create_response: z.boolean(),
            interrupt_response: z.boolean(),
          }),
        }),
        output: z.strictObject({ format: Format, voice: z.string() }),
      }),
      tools: z.array(
        z.strictObject({
          type: z.literal("function"),
          name: z.string(),
          description: z.string(),
          parameters: z.looseObject({ type: z.literal("object") }),
        }),
      ),
      tool_choice: z.literal("auto"),
    }),
  }),
  z.strictObject({ type: z.literal("input_audio_buffer.append"), audio: z.base64() }),
  z.strictObject({
    type: z.literal("conversation.item.create"),
    item: z.union([
      z.strictObject({ type: z.literal("function_call_output"), call_id: z.string(), output: z.string() }),
      z.strictObject({
        type: z.literal("message"),
        role: z.literal("user"),
        content: z.tuple([z.strictObject({ type: z.literal("input_text"), text: z.string() })]),
      }),
      z.strictObject({
        type: z.literal("message"),
        role: z.literal("assistant"),
        content: z.tuple([z.strictObject({ type: z.literal("output_text"), text: z.string() })]),
      }),
    ]),
  }),
  z.strictObject({
    type: z.literal("response.create"),
    response: z.strictObject({ instructions: z.string() }).optional(),
  }),
  z.strictObject({ type: z.literal("response.cancel") }),
  z.strictObject({
    type: z.literal("conversation.item.truncate"),
    item_id: z.string(),
    content_index: z.literal(0),
    audio_end_ms: z.number().int().min(0),
  }),
]);

export interface RealtimeStandIn extends Vendor {
  /** Types of everything it was sent, without audio. */
  readonly events: string[];
  readonly truncatedMs: number[];
  /** Results of calls, as the model got them. */
  readonly results: readonly string[];
  /** Messages in text, with their roles. */
  readonly told: readonly string[];
}

export interface RealtimeScript {
  phrases: readonly string[];
  /** To what was said or typed, to instructions for one answer, or to the results of calls. */
  answer(asked: string): string | { name: string; arguments: unknown }[];
}

/** OpenAI's realtime interface. */
export async function startOpenAiRealtime(script: RealtimeScript): Promise<RealtimeStandIn> {
  const events: string[] = [];
  const truncatedMs: number[] = [];
  const refused: string[] = [];
  const results: string[] = [];
  const told: string[] = [];
  const phrases = createPhrases(script.phrases);

  function serve(socket: WebSocket): void {
    let items = 0;
    let asked = "";
    let isUserSpeaking = false;
    const send = (type: string, fields: object = {}): void => {
      if (socket.readyState === socket.OPEN)
        socket.send(JSON.stringify({ type, event_id: `e${(items += 1)}`, ...fields }));
    };
    const hear = createTurnHearing({
      phrases,
      sampleRateHz: 24_000,
      started() {
        isUserSpeaking = true;
        send("input_audio_buffer.speech_started");
      },
      stopped(text) {
        isUserSpeaking = false;
        send("input_audio_buffer.speech_stopped");
        respond(text);
        send("conversation.item.input_audio_transcription.completed", { transcript: text });
      },
    });

    function respond(text: string): void {
      const answer = script.answer(text);
      const item_id = `item_${(items += 1)}`;
      send("response.created");
      if (typeof answer === "string") {
        for (const piece of answer.match(/\s*\S+/g) ?? []) {
          send("response.output_audio_transcript.delta", { item_id, delta: piece });
          send("response.output_audio.delta", { item_id, delta: humOf(piece, 24_000).toString("base64") });
        }
        send("response.output_item.done", { item: { id: item_id, type: "message" } });
      } else
        for (const { name, arguments: args } of answer)
          send("response.output_item.done", {
            item: {
              type: "function_call",
              call_id: `call_${(items += 1)}`,
              name,
              arguments: JSON.stringify(args),
            },
          });
      send("response.done", {
        response: { status: "completed", usage: { input_tokens: 9, output_tokens: 4 } },
      });
    }

    send("session.created");
    socket.on("message", (data: Buffer) => {
      const parsed = ClientEvent.safeParse(JSON.parse(data.toString()));
      if (!parsed.success) {
        refused.push(z.prettifyError(parsed.error));
        return send("error", { error: { message: "Invalid event" } });
      }
      const event = parsed.data;
      if (event.type !== "input_audio_buffer.append") events.push(event.type);
      switch (event.type) {
        case "session.update":
          return send("session.updated");
        case "input_audio_buffer.append": {
          const bytes = Buffer.from(event.audio, "base64");
          return hear(new Int16Array(Uint8Array.from(bytes).buffer));
        }
        case "conversation.item.create":
          if (event.item.type === "function_call_output") results.push(event.item.output);
          if (event.item.type === "message") told.push(`${event.item.role}: ${event.item.content[0].text}`);
          asked =
            event.item.type === "message"
              ? event.item.content[0].text.replace(/^Result of \w+: /, "result ")
              : `result ${event.item.output}`;
          return undefined;
        case "response.create":
          if (isUserSpeaking) refused.push("response.create while the user speaks");
          return respond(event.response?.instructions ?? asked);
        case "response.cancel":
          return undefined;
        case "conversation.item.truncate":
          return void truncatedMs.push(event.audio_end_ms);
        default:
          return event satisfies never;
      }
    });
  }

  const vendor = await startVendor({
    upgrade({ url, headers }) {
      if (headers.authorization !== "Bearer sk-test") return { status: 401 };
      return url.pathname === "/v1/realtime" && url.searchParams.has("model") ? serve : { status: 404 };
    },
  });
  return { ...vendor, url: `${vendor.url}/v1`, events, truncatedMs, results, told, refused };
}
