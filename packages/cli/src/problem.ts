/** An error for the user: what is wrong, why, and what to try. */
export class Problem extends Error {
  readonly code: string;
  readonly exitCode: number;
  readonly why: string | undefined;
  readonly fixes: readonly string[];

  constructor(code: string, message: string, options: ProblemOptions = {}) {
    super(message, { cause: options.cause });
    this.name = "Problem";
    this.code = code;
    this.exitCode = options.exitCode ?? exitCodes.failed;
    this.why = options.why;
    this.fixes = options.fixes ?? [];
  }
}

export interface ProblemOptions {
  why?: string | undefined;
  fixes?: string[];
  /** @default 1 */
  exitCode?: number;
  cause?: unknown;
}

export const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

export function usageProblem(message: string, ...fixes: string[]): Problem {
  return new Problem("usage", message, { fixes, exitCode: exitCodes.usage });
}
