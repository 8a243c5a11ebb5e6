import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { askProgram } from "./run-operation.ts";
import { requireWalls, type WallsFacts } from "./wall-facts.ts";

/** `vocalhost wall show` */
export async function run(options: OperateOptions, { ui, isJson, signal }: CommandContext): Promise<number> {
  const walls = requireWalls(await askProgram<WallsFacts>({ words: ["wall", "show"], options }, { signal }));
  ui.print(
    isJson ? JSON.stringify({ ok: true, walls }) : walls.map(({ rules }) => rules.trimEnd()).join("\n\n"),
  );
  return 0;
}
