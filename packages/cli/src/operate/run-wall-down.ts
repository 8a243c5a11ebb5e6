import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { runOperation } from "./run-operation.ts";
import { bridgesOf, requireWalls, type WallsFacts } from "./wall-facts.ts";

/** `vocalhost wall down` */
export async function run(options: OperateOptions, context: CommandContext): Promise<number> {
  const walls = requireWalls(
    await runOperation<WallsFacts>({ words: ["wall", "down"], options, title: "Removing the wall" }, context),
  );
  context.ui.print(
    context.isJson
      ? JSON.stringify({ ok: true, walls: walls.map(({ wall, table }) => ({ ...wall, table })) })
      : `Bots behind ${bridgesOf(walls)} now reach this machine and each other.`,
  );
  return 0;
}
