import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { runOperation } from "./run-operation.ts";
import { bridgesOf, requireWalls, type WallsFacts } from "./wall-facts.ts";

/** `vocalhost wall up` */
export async function run(options: OperateOptions, context: CommandContext): Promise<number> {
  const walls = requireWalls(
    await runOperation<WallsFacts>({ words: ["wall", "up"], options, title: "Raising the wall" }, context),
  );
  context.ui.print(
    context.isJson
      ? JSON.stringify({ ok: true, walls: walls.map(({ wall, table }) => ({ ...wall, table })) })
      : `Bots behind ${bridgesOf(walls)} reach the internet, and neither this machine, nor private networks, nor each other.\n` +
          walls.map(({ table }) => `See the rules: nft list table inet ${table}`).join("\n"),
  );
  return 0;
}
