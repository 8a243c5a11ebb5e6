import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { runOperation } from "./run-operation.ts";

interface TakenBackup {
  file: string;
  bytes: number;
  manifest: { agents: number; sessions: number; builds: string[] };
}

/** `vocalhost backup` */
export async function run(
  options: OperateOptions & { file: string | undefined },
  context: CommandContext,
): Promise<number> {
  const file = options.file ?? defaultName(new Date());
  const taken = await runOperation<TakenBackup>(
    { words: ["backup", file], options, title: "Backing up" },
    context,
  );
  const { agents, sessions, builds } = taken.manifest;
  if (context.isJson) context.ui.print(JSON.stringify({ ok: true, ...taken }));
  else
    context.ui.print(
      `${taken.file}  ${(taken.bytes / 1024 ** 2).toFixed(1)} MiB: ${agents} agents, ${sessions} sessions, ` +
        `${builds.length} builds and the service's keys. Keep it as safe as the service itself.`,
    );
  return 0;
}

/** `vocalhost-2026-11-16T170501.tar.gz` */
function defaultName(now: Date): string {
  return `vocalhost-${now.toISOString().slice(0, 19).replaceAll(":", "")}.tar.gz`;
}
