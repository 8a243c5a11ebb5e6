import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { runOperation } from "./run-operation.ts";

interface Copied {
  tables: { table: string; rows: number }[];
}

/** `vocalhost store copy` */
export async function run(options: OperateOptions, context: CommandContext): Promise<number> {
  const { tables } = await runOperation<Copied>(
    { words: ["copy-store"], options, title: "Copying the store" },
    context,
  );
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  if (context.isJson) context.ui.print(JSON.stringify({ ok: true, tables }));
  else
    context.ui.print(
      `Copied ${rows} rows of ${tables.length} tables. The service uses the new database from its next start; ` +
        "the old file stays as it is.",
    );
  return 0;
}
