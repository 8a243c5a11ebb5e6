import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { runOperation } from "./run-operation.ts";
import { requireWall, type WallFacts } from "./wall-facts.ts";

/** `vocalhost wall up` */
export async function run(options: OperateOptions, context: CommandContext): Promise<number> {
  const { wall, table } = requireWall(
    await runOperation<WallFacts>({ words: ["wall", "up"], options, title: "Raising the wall" }, context),
  );
  context.ui.print(
    context.isJson
      ? JSON.stringify({ ok: true, ...wall, table })
      : `Bots behind ${wall.bridge} reach the internet, and neither this machine, nor private networks, nor each other.\n` +
          `See the rules: nft list table inet ${table}`,
  );
  return 0;
}
