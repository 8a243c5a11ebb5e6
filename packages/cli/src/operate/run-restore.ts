import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { runOperation } from "./run-operation.ts";

interface Restored {
  manifest: { version: string; createdAt: string; agents: number; sessions: number };
}

/** `vocalhost restore` */
export async function run(
  options: OperateOptions & { file: string },
  context: CommandContext,
): Promise<number> {
  const { manifest } = await runOperation<Restored>(
    { words: ["restore", options.file], options, title: "Restoring" },
    context,
  );
  if (context.isJson) context.ui.print(JSON.stringify({ ok: true, manifest }));
  else
    context.ui.print(
      `Restored the backup of ${manifest.createdAt}: ${manifest.agents} agents, ${manifest.sessions} sessions. ` +
        "Start the service with the same settings: vocalhost up",
    );
  return 0;
}
