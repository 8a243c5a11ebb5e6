import type { z } from "zod";

export interface ApiClientOptions {
  /** Ends in `/v1`. */
  baseUrl: string;
  /** Private key, web-session token, or for starts a public key. */
  token?: string;
  /** Name of the organisation, for tokens that belong to a person in several. */
  organization?: string;
  /** @default the global one */
  fetch?: typeof fetch;
}

/** The service refused, or answered something else than it promises. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly detail: unknown;

  constructor({ status, code, message, detail }: Pick<ApiError, "status" | "code" | "message" | "detail">) {
    super(message);
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}

export type Query = Record<string, string | number | boolean | undefined>;

interface ApiRequest {
  method: string;
  /** Under the base, or a whole address. */
  path: string;
  query?: Query;
  body?: unknown;
  form?: FormData;
  headers?: Record<string, string> | undefined;
  /** Not under `/v1`. */
  root?: boolean;
  signal?: AbortSignal | undefined;
}

interface StreamRequest {
  path: string;
  query: Query;
  /** Where to go on. */
  after?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Called once when the service has begun to answer. */
  opened?: (() => void) | undefined;
}

const ATTEMPTS_MAX = 4;
const RETRY_AFTER_MAX_S = 10;

export async function request<S extends z.ZodType>(
  options: ApiClientOptions,
  what: ApiRequest & { schema: S },
): Promise<z.infer<S>>;
export async function request(
  options: ApiClientOptions,
  what: ApiRequest & { schema?: z.ZodType; text?: boolean },
): Promise<unknown>;
export async function request(
  options: ApiClientOptions,
  what: ApiRequest & { schema?: z.ZodType; text?: boolean },
): Promise<unknown> {
  const response = await ask(options, what);
  if (what.text) return response.text();
  if (!what.schema) {
    await response.body?.cancel();
    return undefined;
  }
  const answer = what.schema.safeParse(await response.json().catch(() => undefined));
  if (answer.success) return answer.data;
  throw new ApiError({
    status: response.status,
    code: "UNEXPECTED_ANSWER",
    message: `The service answered ${what.method} ${what.path} with something unexpected`,
    detail: answer.error.issues,
  });
}

/** Server-sent events: their ids and their JSON. */
export async function* stream<S extends z.ZodType>(
  options: ApiClientOptions,
  what: StreamRequest & { schema: S },
): AsyncGenerator<{ id: string; line: z.infer<S> }> {
  const headers: Record<string, string> = { accept: "text/event-stream" };
  if (what.after !== undefined) headers["last-event-id"] = what.after;
  const response = await ask(options, { ...what, method: "GET", headers });
  what.opened?.();
  let rest = "";
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  try {
    for (;;) {
      const chunk = await reader?.read();
      if (!chunk || chunk.done) return;
      const events = (rest + decoder.decode(chunk.value, { stream: true })).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) {
        const id = /^id: (.*)$/m.exec(event)?.[1];
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (id !== undefined && data !== undefined) yield { id, line: what.schema.parse(JSON.parse(data)) };
      }
    }
  } catch (error) {
    if (!what.signal?.aborted) throw error;
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

async function ask(options: ApiClientOptions, what: ApiRequest): Promise<Response> {
  const send = options.fetch ?? fetch;
  for (let attempt = 1; ; attempt += 1) {
    const response = await send(addressOf(options, what), {
      method: what.method,
      headers: headersOf(options, what),
      ...bodyOf(what),
      ...(what.signal ? { signal: what.signal } : {}),
    });
    if (response.ok) return response;
    if (response.status !== 503 || what.method !== "GET" || attempt === ATTEMPTS_MAX)
      throw await errorOf(response);
    await response.body?.cancel();
    const waitS = Math.min(Number(response.headers.get("retry-after") ?? 1) || 0, RETRY_AFTER_MAX_S);
    await new Promise((resolve) => setTimeout(resolve, waitS * 1000));
  }
}

function addressOf({ baseUrl }: ApiClientOptions, { path, root, query = {} }: ApiRequest): URL {
  const base = baseUrl.replace(/\/+$/, "");
  const isWhole = /^https?:/.test(path);
  const url = new URL(isWhole ? path : (root ? base.replace(/\/v1$/, "") : base) + path);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

function headersOf({ token }: ApiClientOptions, what: ApiRequest): Record<string, string> {
  const isForeign = /^https?:/.test(what.path);
  return {
    ...(token !== undefined && !isForeign ? { authorization: `Bearer ${token}` } : {}),
    ...(what.body === undefined ? {} : { "content-type": "application/json" }),
    ...what.headers,
  };
}

function bodyOf({ body, form }: ApiRequest): { body?: FormData | string } {
  if (form) return { body: form };
  return body === undefined ? {} : { body: JSON.stringify(body) };
}

async function errorOf(response: Response): Promise<ApiError> {
  const answer: unknown = await response.json().catch(() => undefined);
  const { error, code, detail } = (typeof answer === "object" && answer !== null ? answer : {}) as {
    error?: unknown;
    code?: unknown;
    detail?: unknown;
  };
  return new ApiError({
    status: response.status,
    code: typeof code === "string" ? code : String(response.status),
    message: typeof error === "string" ? error : `The service answered ${response.status}`,
    detail,
  });
}
