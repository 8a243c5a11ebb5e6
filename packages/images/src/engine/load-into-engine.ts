import { request } from "node:http";
import { pipeline } from "node:stream/promises";
import { Transform } from "node:stream";
import { compressedBytes, type Image } from "../image.ts";
import { streamArchive } from "../archives/write-archive.ts";

/** An engine is not there or did not take an image. */
export class EngineError extends Error {
  override readonly name = "EngineError";
}

export interface LoadOptions {
  /** Path of the engine's socket. */
  socket: string;
  image: Image;
  /** Its name in the engine. */
  name: string;
  /** Called with the part that is done, from 0 to 1. */
  onProgress?: (done: number) => void;
  /** The longest time without progress. @default 120000 */
  stallMs?: number;
  signal?: AbortSignal | undefined;
}

const ANSWER_MAX_CHARACTERS = 64 * 1024;

/** Gives an image to Docker or Podman without a registry in between. */
export async function loadIntoEngine(options: LoadOptions): Promise<void> {
  const { socket, image, name, signal } = options;
  const stallMs = options.stallMs ?? 120_000;
  const stall = new AbortController();
  const call = request({
    socketPath: socket,
    path: "/images/load?quiet=1",
    method: "POST",
    headers: { "content-type": "application/x-tar", host: "engine" },
    signal: AbortSignal.any([stall.signal, ...(signal ? [signal] : [])]),
  });
  const stalled = (): void => stall.abort(new Error("nothing moved"));
  let timer = setTimeout(stalled, stallMs);
  const answered = answerOf(call);
  const total = compressedBytes(image);
  let sent = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      clearTimeout(timer);
      timer = setTimeout(stalled, stallMs);
      sent += chunk.length;
      options.onProgress?.(Math.min(1, sent / total));
      done(null, chunk);
    },
  });
  try {
    // Whichever fails first says why: an engine may answer before it has read everything.
    const [{ status, text }] = await Promise.all([
      answered,
      pipeline(streamArchive({ image, name, format: "docker", signal }), meter, call),
    ]);
    const told = toldBy(text);
    if (status !== 200 || told !== undefined)
      throw new EngineError(
        `The engine at ${socket} did not take the image: ${told ?? `it answered ${status}`}`,
      );
  } catch (error) {
    if (error instanceof EngineError || signal?.aborted) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const why = stall.signal.aborted
      ? `nothing moved for ${Math.round(stallMs / 1000)} s`
      : code === "EACCES"
        ? "you may not use its socket"
        : code === "ENOENT" || code === "ECONNREFUSED"
          ? "nothing listens there"
          : message;
    throw new EngineError(`The engine at ${socket} cannot be used: ${why}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function answerOf(call: ReturnType<typeof request>): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  call.on("error", reject);
  call.on("response", (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => {
      if (text.length < ANSWER_MAX_CHARACTERS) text += part;
    });
    response.on("error", reject);
    response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
  });
  return promise;
}

/** Engines answer 200 and then say in the stream that it went wrong. */
function toldBy(text: string): string | undefined {
  for (const line of text.split("\n")) {
    const [, told] = /"(?:error|message|cause)"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(line) ?? [];
    if (told) return told.replace(/\\(.)/g, "$1").slice(0, 300);
  }
  return undefined;
}
