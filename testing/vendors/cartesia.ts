import type { WebSocket } from "ws";
import { z } from "zod";
import { startVendor, type Vendor } from "./http-vendor.ts";

const Generation = z.strictObject({
  context_id: z.string().min(1),
  model_id: z.string(),
  transcript: z.string().min(1),
  voice: z.strictObject({ mode: z.literal("id"), id: z.uuid() }),
  language: z.string(),
  output_format: z.strictObject({
    container: z.literal("raw"),
    encoding: z.literal("pcm_s16le"),
    sample_rate: z.number().int(),
  }),
  add_timestamps: z.boolean(),
  continue: z.boolean(),
});
const Cancel = z.strictObject({ context_id: z.string(), cancel: z.literal(true) });

export interface CartesiaStandIn extends Vendor {
  readonly spoken: string[];
  readonly cancelled: string[];
  connections: number;
}

/** Cartesia's WebSocket for speech. A text with the word "endless" is never finished. */
export async function startCartesia(): Promise<CartesiaStandIn> {
  const spoken: string[] = [];
  const cancelled: string[] = [];
  const refused: string[] = [];
  const counted = { connections: 0 };
  const vendor = await startVendor({
    upgrade({ url, headers }) {
      if (headers["x-api-key"] !== "ca-test") return { status: 401 };
      if (url.pathname !== "/tts/websocket" || !/^\d{4}-\d\d-\d\d$/.test(String(headers["cartesia-version"])))
        return { status: 400 };
      counted.connections += 1;
      return onSocket;
    },
  });

  function onSocket(socket: WebSocket): void {
    socket.on("message", (data: Buffer) => {
      const message: unknown = JSON.parse(data.toString());
      const cancel = Cancel.safeParse(message);
      if (cancel.success) return void cancelled.push(cancel.data.context_id);
      const request = Generation.safeParse(message);
      if (!request.success) {
        refused.push(z.prettifyError(request.error));
        return socket.send(
          JSON.stringify({ type: "error", done: true, status_code: 400, error: "Invalid request" }),
        );
      }
      const { context_id, transcript, output_format } = request.data;
      const send = (answer: object): void =>
        socket.send(JSON.stringify({ context_id, done: false, status_code: 206, ...answer }));
      if (transcript.includes("forbidden")) return send({ type: "error", done: true, error: "Not allowed" });
      spoken.push(transcript);
      const words = transcript.split(" ");
      for (const [at, word] of words.entries()) {
        send({ type: "chunk", data: Buffer.alloc(output_format.sample_rate / 5).toString("base64") });
        send({
          type: "timestamps",
          word_timestamps: { words: [word], start: [at * 0.1], end: [(at + 1) * 0.1] },
        });
      }
      if (!transcript.includes("endless")) send({ type: "done", done: true });
      return undefined;
    });
  }

  return {
    ...vendor,
    spoken,
    cancelled,
    refused,
    get connections() {
      return counted.connections;
    },
  };
}
