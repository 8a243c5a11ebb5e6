import type { WebSocket } from "ws";
import { z } from "zod";
import { Refusal, startVendor, type Vendor, type VendorRequest } from "./http-vendor.ts";

const Control = z.union([z.strictObject({ type: z.enum(["Finalize", "KeepAlive", "CloseStream"]) })]);
const PARAMETERS = new Set(
  "model language encoding sample_rate channels interim_results punctuate smart_format endpointing keyterm".split(
    " ",
  ),
);

export interface DeepgramStandIn extends Vendor {
  readonly connections: { parameters: URLSearchParams; bytes: number; controls: string[] }[];
  readonly spoken: string[];
  /** Ends all connections, as a restart of the service does. */
  drop(): void;
}

export interface DeepgramScript {
  /** Returns the words in this much audio since the last request to finish. */
  hear(ms: number): string;
}

/** Deepgram's live transcription and speech. */
export async function startDeepgram(script: DeepgramScript): Promise<DeepgramStandIn> {
  const connections: DeepgramStandIn["connections"] = [];
  const spoken: string[] = [];
  const sockets = new Set<WebSocket>();

  function upgrade(request: VendorRequest): { status: number } | ((socket: WebSocket) => void) {
    if (request.headers.authorization !== "Token dg-test") return { status: 401 };
    const { url } = request;
    if (url.pathname !== "/v1/listen") return { status: 404 };
    if ([...url.searchParams.keys()].some((name) => !PARAMETERS.has(name))) return { status: 400 };
    const rateHz = Number(url.searchParams.get("sample_rate"));
    if (url.searchParams.get("encoding") !== "linear16" || !(rateHz >= 8_000)) return { status: 400 };
    return (socket) => {
      sockets.add(socket);
      const connection = { parameters: url.searchParams, bytes: 0, controls: [] as string[] };
      connections.push(connection);
      let bytes = 0;
      let told = 0;
      const results = (transcript: string, flags: object): void =>
        socket.send(
          JSON.stringify({
            type: "Results",
            channel_index: [0, 1],
            channel: { alternatives: [{ transcript, confidence: 0.99, words: [] }] },
            speech_final: false,
            ...flags,
          }),
        );
      const heardMs = (): number => (bytes / 2 / rateHz) * 1000;
      socket.on("message", (data: Buffer, isBinary) => {
        if (isBinary) {
          bytes += data.length;
          connection.bytes += data.length;
          if (heardMs() - told < 300) return;
          told = heardMs();
          return results(script.hear(heardMs()), { is_final: false });
        }
        const control = Control.safeParse(JSON.parse(data.toString()));
        if (!control.success) return socket.close(1008, "DATA-0000");
        connection.controls.push(control.data.type);
        if (control.data.type === "CloseStream") return socket.close(1000);
        if (control.data.type !== "Finalize" || bytes === 0) return undefined;
        const text = script.hear(heardMs());
        bytes = 0;
        told = 0;
        // Final words come first; the last of them carries the mark.
        const [first = "", ...rest] = text.split(/(?<= )/);
        if (rest.length > 0) results(first.trim(), { is_final: true });
        return results(rest.length > 0 ? rest.join("") : first, { is_final: true, from_finalize: true });
      });
    };
  }

  const vendor = await startVendor({
    upgrade,
    request({ url, headers, body }, response) {
      if (headers.authorization !== "Token dg-test") throw new Refusal(401, "Invalid credentials");
      if (url.pathname !== "/v1/speak") throw new Refusal(404, "Not here");
      const query = Object.fromEntries(url.searchParams);
      if (query["encoding"] !== "linear16" || query["container"] !== "none")
        throw new Refusal(400, "Bad format");
      const { text } = z
        .strictObject({ text: z.string().min(1).max(2_000) })
        .parse(JSON.parse(body.toString()));
      spoken.push(text);
      response.writeHead(200, { "content-type": "audio/l16" });
      response.write(Buffer.alloc(4_801));
      response.end(Buffer.alloc(4_799));
    },
  });
  return { ...vendor, connections, spoken, drop: () => sockets.forEach((socket) => socket.terminate()) };
}
