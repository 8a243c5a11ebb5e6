/** Refusal or failure of a vendor's service. `answer` holds its response, which may quote speech or a key. */
export class ServiceError extends Error {
  readonly status: number | undefined;
  readonly answer: string;

  constructor(message: string, details: { status?: number; answer?: string; cause?: unknown } = {}) {
    super(message, { cause: details.cause });
    this.name = "ServiceError";
    this.status = details.status;
    this.answer = details.answer ?? "";
  }
}

export interface ServiceRequest {
  /** Completes "… answered 401". */
  vendor: string;
  url: string;
  headers: Record<string, string>;
  body: FormData | object;
  signal: AbortSignal;
  /** Longest wait for the response to begin, in milliseconds. @default 30000 */
  timeoutMs?: number;
}

const ANSWER_MAX_CHARACTERS = 500;

/** Posts a request. Throws a `ServiceError` for an error status. */
export async function post(request: ServiceRequest): Promise<Response> {
  const isForm = request.body instanceof FormData;
  const { vendor, timeoutMs = 30_000 } = request;
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new ServiceError(`${vendor} did not answer in ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    const response = await fetch(request.url, {
      method: "POST",
      headers: { ...request.headers, ...(isForm ? {} : { "content-type": "application/json" }) },
      body: isForm ? (request.body as FormData) : JSON.stringify(request.body),
      signal: AbortSignal.any([request.signal, late.signal]),
    });
    if (response.ok) return response;
    const answer = (await response.text()).slice(0, ANSWER_MAX_CHARACTERS);
    throw new ServiceError(`${vendor} answered ${response.status}${hint(response.status)}`, {
      status: response.status,
      answer,
    });
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason;
    if (error instanceof ServiceError) throw error;
    throw new ServiceError(`${vendor} cannot be reached`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

export function hint(status: number | undefined): string {
  if (status === 401 || status === 403) return ": is its key right, and may it do this?";
  if (status === 429) return ": too many requests, or no credit";
  return "";
}

async function* bytesOfAnswer(response: Response, vendor: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const bytes of response.body ?? []) yield bytes as Uint8Array;
  } catch (error) {
    throw new ServiceError(`${vendor} ended its answer early`, { cause: error });
  }
}

/** Yields the lines of a response as they arrive. */
export async function* linesOf(response: Response, vendor: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of bytesOfAnswer(response, vendor)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

/** Parses JSON of a response, or of a part of it. */
export function jsonOf(text: string, vendor: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ServiceError(`${vendor} sent an invalid answer`, {
      answer: text.slice(0, ANSWER_MAX_CHARACTERS),
      cause: error,
    });
  }
}

/** Yields the data of server-sent events. Returns true at the end marker of OpenAI's protocol. */
export async function* eventsOf(response: Response, vendor: string): AsyncGenerator<unknown, boolean> {
  for await (const line of linesOf(response, vendor)) {
    const data = /^data:\s?(.*)$/.exec(line)?.[1];
    if (data === undefined || data === "") continue;
    if (data === "[DONE]") return true;
    yield jsonOf(data, vendor);
  }
  return false;
}

/** Yields samples of raw PCM, in pieces of any length. Throws for text, whatever its content type. */
export async function* pcmOf(response: Response, vendor: string): AsyncGenerator<Int16Array> {
  const type = response.headers.get("content-type") ?? "";
  const length = Number(response.headers.get("content-length") ?? 0);
  if (/^text\/|json|xml|html/i.test(type) || length % 2 === 1) throw noSound(vendor, type);
  let odd: Uint8Array = new Uint8Array(0);
  let isFirst = true;
  for await (const piece of bytesOfAnswer(response, vendor)) {
    const bytes = Buffer.concat([odd, piece]);
    if (isFirst && bytes.length < LOOKED_AT_BYTES) {
      odd = bytes; // too little to tell
      continue;
    }
    if (isFirst && isText(bytes)) throw noSound(vendor, type);
    isFirst = false;
    const whole = bytes.length - (bytes.length % 2);
    odd = bytes.subarray(whole);
    if (whole > 0) yield pcmFrom(bytes.subarray(0, whole));
  }
  if (!isFirst || odd.length < 2) return;
  if (isText(odd)) throw noSound(vendor, type);
  yield pcmFrom(odd.subarray(0, odd.length - (odd.length % 2)));
}

const LOOKED_AT_BYTES = 64;

/** Sound never begins with this many bytes of text: its first samples are quiet, with bytes of 0 or 255. */
function isText(bytes: Uint8Array): boolean {
  return bytes
    .subarray(0, LOOKED_AT_BYTES)
    .every((byte) => (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d));
}

function noSound(vendor: string, type: string): ServiceError {
  return new ServiceError(`${vendor} sent something that is no sound`, { answer: type });
}

export function pcmFrom(bytes: Uint8Array): Int16Array {
  return new Int16Array(Uint8Array.from(bytes).buffer, 0, bytes.length >> 1);
}

export function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}
