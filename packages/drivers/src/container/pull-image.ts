import { SourceError, type PrepareOptions, type PullSecret } from "../driver.ts";
import type { Engine } from "./engine.ts";
import { EngineError, toEngineError } from "./engine-error.ts";
import { readEvents } from "./read-events.ts";

export interface PullImageOptions extends PrepareOptions {
  /** A reference with a digest. */
  reference: string;
  /** Its size as the registry reports it. */
  totalBytes: number;
  credentials: PullSecret | undefined;
  /** The longest time without progress. @default 2 min */
  stallMs?: number;
}

interface PullEvent {
  id?: string;
  error?: string;
  errorDetail?: { message?: string };
  progressDetail?: { current?: number };
}

const STALL_MS = 120_000;
const STEP_PERCENT = 5;

/** Engines tell of failures in different words, some of them only in the middle of an answer that began well. */
const FAILURES: [RegExp, SourceError["code"], string][] = [
  [/manifest unknown|not found|no such image/i, "IMAGE_NOT_FOUND", "is not in its registry any more"],
  [
    /unauthorized|authentication required|no basic auth|denied/i,
    "IMAGE_PULL_UNAUTHORIZED",
    "may not be pulled with these credentials",
  ],
  [
    /toomanyrequests|rate limit/i,
    "IMAGE_PULL_RATE_LIMIT",
    "is asked for more often than its registry allows",
  ],
  [
    /no matching manifest|image operating system|exec format/i,
    "INVALID_IMAGE_PLATFORM",
    "is for other machines",
  ],
];

/** Has the engine pull an image, and reports its progress. */
export async function pullImage(engine: Engine, options: PullImageOptions): Promise<void> {
  const { reference, credentials, signal } = options;
  const stall = new AbortController();
  const stallMs = options.stallMs ?? STALL_MS;
  let timer = setTimeout(() => stall.abort(), stallMs);
  const abortSignal = AbortSignal.any([signal, stall.signal]);
  try {
    const [fromImage = "", tag = ""] = reference.split("@");
    const stream = await engine.client.stream({
      ...{ method: "POST", path: "/images/create", query: { fromImage, tag } },
      ...{ credentials: credentials && authOf(credentials), signal: abortSignal },
    });
    const tell = createProgress(options);
    for await (const event of readEvents<PullEvent>(stream)) {
      clearTimeout(timer);
      timer = setTimeout(() => stall.abort(), stallMs);
      const problem = event.errorDetail?.message ?? event.error;
      if (problem !== undefined) throw new Error(problem);
      tell(event);
    }
    abortSignal.throwIfAborted();
  } catch (error) {
    signal.throwIfAborted();
    if (stall.signal.aborted)
      throw new EngineError("hung", `Nothing of the image came for ${Math.round(stallMs / 1000)} s`);
    throw toPullError(error, { reference, socket: engine.socket });
  } finally {
    clearTimeout(timer);
  }
  if (!(await engine.inspectImage(reference)))
    throw new SourceError("IMAGE_PULL_UNKNOWN_ERROR", `The container engine did not keep ${reference}`);
}

function authOf({ username, token, host }: PullSecret) {
  return { username, password: token, serveraddress: host };
}

function toPullError(error: unknown, { reference, socket }: { reference: string; socket: string }): Error {
  const known = toEngineError(error, { call: "pull an image", socket });
  if (!(known instanceof EngineError) || ["full", "unreachable", "hung"].includes(known.kind)) return known;
  const failure = FAILURES.find(([words]) => words.test(known.message));
  const [, code, what] = failure ?? [undefined, "IMAGE_PULL_UNKNOWN_ERROR" as const, undefined];
  return new SourceError(
    code,
    what === undefined ? `${reference}: ${known.message}` : `The image ${reference} ${what}`,
    { cause: error },
  );
}

/** Reports progress in steps, so that the log stays short. */
function createProgress({ totalBytes, progressed }: PullImageOptions): (event: PullEvent) => void {
  const layers = new Map<string, number>();
  let toldPercent = -1;
  return ({ id = "", progressDetail }) => {
    if (progressDetail?.current !== undefined)
      layers.set(id, Math.max(layers.get(id) ?? 0, progressDetail.current));
    const bytes = [...layers.values()].reduce((sum, each) => sum + each, 0);
    const percent = Math.min(100, Math.floor((100 * bytes) / totalBytes / STEP_PERCENT) * STEP_PERCENT);
    if (percent <= toldPercent) return;
    toldPercent = percent;
    progressed(`Pulling the image, ${percent} % of ${(totalBytes / 1e6).toFixed(0)} MB`);
  };
}
