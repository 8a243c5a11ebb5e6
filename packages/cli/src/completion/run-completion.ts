import type { CommandContext } from "../define-command.ts";
import { exitCodes } from "../problem.ts";
import { completionScript } from "./completion-script.ts";
import type { Shell } from "./shells.ts";

/** `vocalhost completion` */
export async function run(
  { shell }: { shell: Shell },
  { ui, isJson, tree }: CommandContext,
): Promise<number> {
  const script = completionScript(shell, tree());
  ui.print(isJson ? JSON.stringify({ ok: true, shell, script }) : script);
  return exitCodes.ok;
}
