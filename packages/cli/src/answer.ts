import type { CommandContext } from "./define-command.ts";

/** The result: for programs as one JSON object, for people as text. */
export function answer(
  { ui, isJson }: Pick<CommandContext, "ui" | "isJson">,
  result: object,
  text: string,
): void {
  ui.print(isJson ? JSON.stringify({ ok: true, ...result }) : text);
}
