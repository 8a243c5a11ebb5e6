import { AppError } from "@vocalhost/protocol";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { Log } from "../log.ts";

/** Daily's REST interface: patient where asking again helps, and silent about the key. */
export interface DailyApi {
  get(path: string): Promise<DailyAnswer>;
  post(path: string, body: object): Promise<DailyAnswer>;
  delete(path: string): Promise<DailyAnswer>;
}

/** Daily's answer to a request. 404 is an answer; every other refusal is thrown. */
export type DailyAnswer = { found: true; body: unknown } | { found: false };

export interface DailyApiOptions {
  apiUrl: string;
  apiKey: string;
  log: Log;
  /** The first wait after "too many requests"; each further one is twice as long. @default 250 */
  backoffMs?: number;
}

const ATTEMPTS_MAX = 5;
const REQUEST_MS = 10_000;
const WAIT_MAX_MS = 5_000; // a client waits for the answer to its start
const DailyError = z.object({ error: z.string(), info: z.string().optional() });

export function createDailyApi({ apiUrl, apiKey, log, backoffMs = 250 }: DailyApiOptions): DailyApi {
  // Daily repeats parts of a request in what it says of it.
  const withoutKey = (text: string): string => text.replaceAll(apiKey, "…").slice(0, 300);

  async function ask(method: string, path: string, body?: object): Promise<Response> {
    return fetch(`${apiUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body ? { "content-type": "application/json" } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      redirect: "error", // it would take the key along
      signal: AbortSignal.timeout(REQUEST_MS),
    });
  }

  async function call(method: string, path: string, body?: object): Promise<DailyAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await ask(method, path, body).catch((cause: unknown) => {
        throw new AppError("ROOMS_UNAVAILABLE", {
          message: `Daily cannot be reached: ${withoutKey(reasonOf(cause))}`,
        });
      });
      if (response.ok) return { found: true, body: await response.json().catch(() => ({})) };
      const said = DailyError.safeParse(await response.json().catch(() => undefined)).data;
      if (response.status === 404) return { found: false };
      const mayHelp = response.status === 429 || response.status >= 500;
      if (!mayHelp || attempt === ATTEMPTS_MAX) throw refusal(response.status, said);
      const waitMs = Math.min(WAIT_MAX_MS, retryAfterMs(response) ?? backoffMs * 2 ** (attempt - 1));
      log.warn({ status: response.status, attempt, waitMs }, "Daily asks for patience");
      await pause(waitMs * (0.5 + Math.random() / 2));
    }
  }

  function refusal(status: number, said: z.infer<typeof DailyError> | undefined): AppError {
    const text = withoutKey([said?.error, said?.info].filter(Boolean).join(": ") || `HTTP ${status}`);
    if (status === 401)
      return new AppError("ROOM_REFUSED", {
        message: `Daily refused the API key (${text}). Check DAILY_API_KEY.`,
      });
    if (status === 403)
      return new AppError("ROOM_REFUSED", {
        message: `Daily does not allow this to your account (${text}).`,
      });
    if (status === 429)
      return new AppError("ROOMS_UNAVAILABLE", { message: `Daily's rate limit is reached (${text}).` });
    if (status >= 500)
      return new AppError("ROOMS_UNAVAILABLE", { message: `Daily has a problem of its own (${text}).` });
    return new AppError("ROOM_REFUSED", { message: `Daily refused the request (${text}).` });
  }

  return {
    get: (path) => call("GET", path),
    post: (path, body) => call("POST", path, body),
    delete: (path) => call("DELETE", path),
  };
}

function retryAfterMs(response: Response): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
