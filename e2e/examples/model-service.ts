import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A small OpenAI-compatible service: hears one sentence, knows one answer, speaks a tone. */
export interface ModelService extends AsyncDisposable {
  readonly url: string;
  /** Paths asked for, with the body of JSON requests. */
  readonly asked: { path: string; authorization: string; body: string }[];
}

export const HEARD = "A table for two please.";
export const ANSWERS = ["A table for two it is.", "See you then!"];

export async function startModelService(options: { failing?: boolean } = {}): Promise<ModelService> {
  const asked: ModelService["asked"] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const path = request.url ?? "";
      asked.push({ path, authorization: request.headers.authorization ?? "", body });
      if (options.failing) return response.writeHead(500).end("out of order");
      return answer(path, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(path: string, response: ServerResponse): ServerResponse {
  if (path.endsWith("/audio/transcriptions")) return response.end(JSON.stringify({ text: HEARD }));
  if (path.endsWith("/audio/speech")) return response.end(tone());
  for (const piece of ANSWERS.join(" ").match(/.{1,7}/g) ?? [])
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: piece } }] })}\n\n`);
  return response.end("data: [DONE]\n\n");
}

function tone(): Buffer {
  const samples = Int16Array.from({ length: 12_000 }, (_, at) => Math.round(Math.sin(at / 8) * 9_000));
  return Buffer.from(samples.buffer);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("latin1");
}
