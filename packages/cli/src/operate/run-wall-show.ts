import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { askProgram } from "./run-operation.ts";
import { requireWall, type WallFacts } from "./wall-facts.ts";

/** `vocalhost wall show` */
export async function run(options: OperateOptions, { ui, isJson, signal }: CommandContext): Promise<number> {
  const facts = requireWall(await askProgram<WallFacts>({ words: ["wall", "show"], options }, { signal }));
  ui.print(isJson ? JSON.stringify({ ok: true, ...facts }) : facts.rules.trimEnd());
  return 0;
}
