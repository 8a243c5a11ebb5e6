import type { CommandContext } from "../define-command.ts";
import { exitCodes, Problem } from "../problem.ts";

/** Runs something long; at Ctrl-C says what has been done and what has not. */
export async function whereItStands(
  { ui, signal }: Pick<CommandContext, "ui" | "signal">,
  standing: () => string,
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted) throw error;
    ui.problem(new Problem("interrupted", `Interrupted. ${standing()}`));
    return exitCodes.interrupted;
  }
}
