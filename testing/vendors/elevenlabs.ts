import { z } from "zod";
import { Refusal, startVendor, type Vendor } from "./http-vendor.ts";

const Speech = z.strictObject({
  text: z.string().min(1),
  model_id: z.string(),
  previous_text: z.string().min(1).optional(),
  language_code: z.string().length(2).optional(),
  voice_settings: z.record(z.string(), z.unknown()).optional(),
});

export interface ElevenLabsStandIn extends Vendor {
  readonly asked: (z.infer<typeof Speech> & { voice: string })[];
}

const MS_PER_CHARACTER = 50;
const CHARACTERS_PER_CHUNK = 7; // cuts words in two, as the real one does

/** ElevenLabs' speech with times of characters. */
export async function startElevenLabs(): Promise<ElevenLabsStandIn> {
  const asked: ElevenLabsStandIn["asked"] = [];
  const vendor = await startVendor({
    request({ method, url, headers, body }, response) {
      if (headers["xi-api-key"] !== "xi-test") throw new Refusal(401, "invalid_api_key");
      const voice = /^\/v1\/text-to-speech\/(\w+)\/stream\/with-timestamps$/.exec(url.pathname)?.[1];
      if (method !== "POST" || voice === undefined) throw new Refusal(404, "Not here");
      if (url.searchParams.get("output_format") !== "pcm_24000") throw new Refusal(422, "output_format");
      const request = Speech.safeParse(JSON.parse(body.toString()));
      if (!request.success) throw new Refusal(422, z.prettifyError(request.error));
      asked.push({ ...request.data, voice });
      response.writeHead(200, { "content-type": "application/json" });
      const characters = [...request.data.text];
      for (let at = 0; at < characters.length; at += CHARACTERS_PER_CHUNK) {
        const chunk = characters.slice(at, at + CHARACTERS_PER_CHUNK);
        const second = (index: number): number => ((at + index) * MS_PER_CHARACTER) / 1000;
        const alignment = {
          characters: chunk,
          character_start_times_seconds: chunk.map((_, index) => second(index)),
          character_end_times_seconds: chunk.map((_, index) => second(index + 1)),
        };
        const audio = Buffer.alloc(chunk.length * MS_PER_CHARACTER * 24 * 2);
        const line = { audio_base64: audio.toString("base64"), alignment, normalized_alignment: alignment };
        response.write(`${JSON.stringify(line)}\n`);
      }
      response.end();
    },
  });
  return { ...vendor, asked };
}
