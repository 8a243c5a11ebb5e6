/** A vendor's service refused or failed. What it answered is in `answer`: it may quote what was said, or a key. */
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
  /** Until it begins to answer. @default 30000 */
  timeoutMs?: number;
}

const ANSWER_MAX_CHARACTERS = 500;

/** Posts, and gives an answer that is none of an error. */
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

function hint(status: number): string {
  if (status === 401 || status === 403) return ": is its key right, and may it do this?";
  if (status === 429) return ": too many requests, or no credit";
  return "";
}

/** Lines of an answer as they come. */
export async function* linesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of response.body ?? []) {
    const lines = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split(/\r?\n/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

/** Data of server-sent events, up to the end that OpenAI's protocol marks. */
export async function* eventsOf(response: Response): AsyncGenerator {
  for await (const line of linesOf(response)) {
    const data = /^data:\s?(.*)$/.exec(line)?.[1];
    if (data === undefined || data === "") continue;
    if (data === "[DONE]") return;
    yield JSON.parse(data) as unknown;
  }
}

/** Samples of raw PCM as it comes, whatever pieces it comes in. */
export async function* pcmOf(response: Response): AsyncGenerator<Int16Array> {
  let odd: Uint8Array = new Uint8Array(0);
  for await (const piece of response.body ?? []) {
    const bytes = Buffer.concat([odd, piece as Uint8Array]);
    const whole = bytes.length - (bytes.length % 2);
    odd = bytes.subarray(whole);
    if (whole > 0) yield pcmFrom(bytes.subarray(0, whole));
  }
}

export function pcmFrom(bytes: Uint8Array): Int16Array {
  return new Int16Array(Uint8Array.from(bytes).buffer, 0, bytes.length >> 1);
}

export function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}
