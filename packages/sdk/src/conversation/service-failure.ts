import { messageOf } from "../message-of.ts";

/** Identifies a conversation's service by its option: the transcriber, the model or the voice. */
export type Stage = "stt" | "llm" | "tts";

const NAMES: Readonly<Record<Stage, string>> = { stt: "transcriber", llm: "model", tts: "voice" };

/** Failure of a conversation's service. The original error is the `cause`. */
export class ServiceFailure extends Error {
  readonly stage: Stage;
  readonly vendor: string;

  constructor(stage: Stage, service: { readonly name?: string; readonly vendor?: string }, cause: unknown) {
    const vendor = service.vendor ?? service.name ?? "unnamed";
    super(`the ${NAMES[stage]} (${vendor}) ${whatOf(cause, vendor)}`, { cause });
    this.name = "ServiceFailure";
    this.stage = stage;
    this.vendor = vendor;
  }

  /** Whether a retry cannot help, because the key or the request is wrong. */
  get isForGood(): boolean {
    const { status } = (this.cause ?? {}) as { status?: number };
    return status !== undefined && status >= 400 && status < 500 && !PASSING.has(status);
  }
}

function whatOf(cause: unknown, vendor: string): string {
  const told = messageOf(cause);
  if (told.startsWith(`${vendor} `)) return told.slice(vendor.length + 1);
  return cause instanceof Error && cause.name === "TimeoutError" ? told : `failed: ${told}`;
}

const PASSING = new Set([408, 409, 425, 429]);
