import { isUnattended } from "./config.ts";
import type { CommandContext } from "./define-command.ts";
import { exitCodes, Problem, usageProblem } from "./problem.ts";

type Asker = Pick<CommandContext, "ui" | "isYes" | "isJson" | "signal">;

/**
 * Asks for a yes. `--yes` gives it. Without a terminal the question is a usage error. The default answer to a
 * destructive question is no.
 */
export async function confirm(
  asker: Asker,
  question: string,
  { isDestructive = false }: { isDestructive?: boolean } = {},
): Promise<boolean> {
  if (asker.isYes) return true;
  requireSomebody(asker, `"${question}" needs an answer.`, "Answer all questions with yes: --yes");
  const prompts = await import("@clack/prompts");
  const answer = await prompts.confirm({
    message: question,
    initialValue: !isDestructive,
    signal: asker.signal,
  });
  return answered(prompts.isCancel(answer) ? undefined : answer);
}

/** Asks for one of several. `flag` names the option that chooses it without a terminal. */
export async function choose<Value extends string>(
  asker: Asker,
  question: { message: string; flag: string; options: readonly Value[] },
): Promise<Value> {
  requireSomebody(asker, `"${question.message}" needs an answer.`, `Choose with ${question.flag}.`);
  const prompts = await import("@clack/prompts");
  const options: { value: string }[] = question.options.map((value) => ({ value }));
  const answer = await prompts.select({ message: question.message, options, signal: asker.signal });
  return answered(prompts.isCancel(answer) ? undefined : (answer as Value));
}

/** Asks for text. With `isSecret` the input is hidden. */
export async function askFor(
  asker: Asker,
  question: { message: string; flag: string; isSecret?: boolean },
): Promise<string> {
  requireSomebody(asker, `"${question.message}" needs an answer.`, `Give it with ${question.flag}.`);
  const prompts = await import("@clack/prompts");
  const { message } = question;
  const ask = question.isSecret ? prompts.password : prompts.text;
  const answer = await ask({ message, signal: asker.signal });
  return answered(prompts.isCancel(answer) ? undefined : answer);
}

function requireSomebody(asker: Asker, message: string, fix: string): void {
  const isThere = asker.ui.isTerminal && process.stdin.isTTY && !asker.isJson && !isUnattended();
  if (!isThere) throw usageProblem(message, fix);
}

function answered<Value>(answer: Value | undefined): Value {
  if (answer !== undefined) return answer;
  throw new Problem("cancelled", "Cancelled; nothing was done.", { exitCode: exitCodes.interrupted });
}
