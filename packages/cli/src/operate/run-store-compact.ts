import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { runOperation } from "./run-operation.ts";

interface Compacted {
  file: string;
  beforeBytes: number;
  afterBytes: number;
}

/** `vocalhost store compact` */
export async function run(options: OperateOptions, context: CommandContext): Promise<number> {
  const done = await runOperation<Compacted>(
    { words: ["compact-store"], options, title: "Compacting" },
    context,
  );
  if (context.isJson) context.ui.print(JSON.stringify({ ok: true, ...done }));
  else context.ui.print(`${done.file}: ${toMib(done.beforeBytes)} before, ${toMib(done.afterBytes)} now.`);
  return 0;
}

function toMib(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
