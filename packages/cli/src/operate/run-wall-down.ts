import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { runOperation } from "./run-operation.ts";
import { requireWall, type WallFacts } from "./wall-facts.ts";

/** `vocalhost wall down` */
export async function run(options: OperateOptions, context: CommandContext): Promise<number> {
  const { wall, table } = requireWall(
    await runOperation<WallFacts>({ words: ["wall", "down"], options, title: "Removing the wall" }, context),
  );
  context.ui.print(
    context.isJson
      ? JSON.stringify({ ok: true, ...wall, table })
      : `Bots behind ${wall.bridge} now reach this machine and each other.`,
  );
  return 0;
}
