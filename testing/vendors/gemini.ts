import type { WebSocket } from "ws";
import { z } from "zod";
import { createPhrases } from "../voice-stand-ins.ts";
import { createTurnHearing, humOf } from "./hear-turns.ts";
import { startVendor, type Vendor } from "./http-vendor.ts";
import type { RealtimeScript } from "./openai-realtime.ts";

const Parts = z.array(z.strictObject({ text: z.string() })).min(1);
const Setup = z.strictObject({
  setup: z.strictObject({
    model: z.string().startsWith("models/"),
    generationConfig: z.strictObject({
      responseModalities: z.tuple([z.literal("AUDIO")]),
      speechConfig: z.strictObject({
        voiceConfig: z.strictObject({ prebuiltVoiceConfig: z.strictObject({ voiceName: z.string() }) }),
      }),
    }),
    systemInstruction: z.strictObject({ parts: Parts }).optional(),
    tools: z
      .array(
        z.strictObject({
          functionDeclarations: z.array(
            z.strictObject({
              name: z.string(),
              description: z.string(),
              parametersJsonSchema: z.looseObject({ type: z.literal("object") }),
            }),
          ),
        }),
      )
      .optional(),
    inputAudioTranscription: z.strictObject({}),
    outputAudioTranscription: z.strictObject({}),
  }),
});
const ClientMessage = z.union([
  z.strictObject({
    realtimeInput: z.strictObject({
      audio: z.strictObject({ data: z.base64(), mimeType: z.literal("audio/pcm;rate=16000") }),
    }),
  }),
  z.strictObject({
    clientContent: z.strictObject({
      turns: z
        .array(z.strictObject({ role: z.enum(["user", "model"]), parts: Parts }))
        .min(1)
        .optional(),
      turnComplete: z.boolean(),
    }),
  }),
  z.strictObject({
    toolResponse: z.strictObject({
      functionResponses: z
        .array(
          z.strictObject({ id: z.string(), name: z.string(), response: z.record(z.string(), z.unknown()) }),
        )
        .min(1),
    }),
  }),
]);

/** Google's live interface. Its messages come as binary frames. */
export async function startGemini(
  script: RealtimeScript,
): Promise<Vendor & { readonly results: readonly string[]; readonly told: readonly string[] }> {
  const refused: string[] = [];
  const results: string[] = [];
  const told: string[] = [];
  const phrases = createPhrases(script.phrases);

  function serve(socket: WebSocket): void {
    let isSetUp = false;
    let calls = 0;
    let asked = "";
    let isUserSpeaking = false;
    const open = new Set<string>();
    const send = (message: object): void => {
      if (socket.readyState === socket.OPEN) socket.send(Buffer.from(JSON.stringify(message)));
    };
    const hear = createTurnHearing({
      phrases,
      sampleRateHz: 16_000,
      started() {
        isUserSpeaking = true;
        send({ serverContent: { interrupted: true } });
        if (open.size > 0) send({ toolCallCancellation: { ids: [...open] } });
        open.clear();
      },
      stopped(text) {
        isUserSpeaking = false;
        for (const piece of text.match(/\s*\S+/g) ?? [])
          send({ serverContent: { inputTranscription: { text: piece } } });
        respond(text);
      },
    });

    function respond(text: string): void {
      const answer = script.answer(text);
      if (typeof answer !== "string") {
        const functionCalls = answer.map(({ name, arguments: args }) => ({
          id: `fc_${(calls += 1)}`,
          name,
          args,
        }));
        for (const { id } of functionCalls) open.add(id);
        return send({ toolCall: { functionCalls } });
      }
      for (const piece of answer.match(/\s*\S+/g) ?? []) {
        const data = humOf(piece, 24_000).toString("base64");
        send({
          serverContent: {
            modelTurn: { parts: [{ inlineData: { mimeType: "audio/pcm;rate=24000", data } }] },
          },
        });
        send({ serverContent: { outputTranscription: { text: piece } } });
      }
      return send({
        serverContent: { turnComplete: true },
        usageMetadata: { promptTokenCount: 9, responseTokenCount: 4 },
      });
    }

    socket.on("message", (data: Buffer) => {
      const message: unknown = JSON.parse(data.toString());
      if (!isSetUp) {
        const setup = Setup.safeParse(message);
        isSetUp = setup.success;
        if (setup.success) return send({ setupComplete: {} });
        refused.push(z.prettifyError(setup.error));
        return socket.close(1007, "Invalid setup");
      }
      const parsed = ClientMessage.safeParse(message);
      if (!parsed.success) {
        refused.push(z.prettifyError(parsed.error));
        return socket.close(1007, "Invalid JSON payload received");
      }
      if ("realtimeInput" in parsed.data) {
        const bytes = Buffer.from(parsed.data.realtimeInput.audio.data, "base64");
        return hear(new Int16Array(Uint8Array.from(bytes).buffer));
      }
      if ("clientContent" in parsed.data) {
        for (const { role, parts } of parsed.data.clientContent.turns ?? []) {
          const text = parts[0]?.text ?? "";
          const result = /^Result of \w+: (.*)$/s.exec(text)?.[1];
          if (result !== undefined) results.push(result);
          told.push(`${role}: ${text}`);
          asked = result === undefined ? text : `result ${result}`;
        }
        if (!parsed.data.clientContent.turnComplete) return undefined;
        if (isUserSpeaking) refused.push("an answer was asked for while the user speaks");
        return respond(asked);
      }
      const [result] = parsed.data.toolResponse.functionResponses;
      if (isUserSpeaking) refused.push("an answer was asked for while the user speaks");
      if (result && !open.delete(result.id)) refused.push("a result of a call that was cancelled");
      results.push(String(result?.response["result"]));
      return respond(`result ${String(result?.response["result"])}`);
    });
  }

  const vendor = await startVendor({
    upgrade({ url }) {
      if (url.searchParams.get("key") !== "ge-test") return { status: 403 };
      return /^\/ws\/google\.ai\.generativelanguage\.v1beta\.GenerativeService\.BidiGenerateContent$/.test(
        url.pathname,
      )
        ? serve
        : { status: 404 };
    },
  });
  return { ...vendor, results, told, refused };
}
