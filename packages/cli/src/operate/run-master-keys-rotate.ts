import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { runOperation } from "./run-operation.ts";

type Rotated =
  | { state: "restart"; key: string; where: string }
  | { state: "done"; key: string; where: string; moved: number; old: string[] };

/** `vocalhost master-keys rotate` */
export async function run(options: OperateOptions, context: CommandContext): Promise<number> {
  const rotated = await runOperation<Rotated>(
    { words: ["rotate-master-key"], options, title: "Sealing secrets" },
    context,
  );
  if (context.isJson) context.ui.print(JSON.stringify({ ok: true, ...rotated }));
  else context.ui.print(toText(rotated));
  return 0;
}

function toText(rotated: Rotated): string {
  const { key, where } = rotated;
  if (rotated.state === "restart")
    return (
      `The key ${key} is the first in ${where}, but the running service seals with another one. ` +
      "Restart every controller (kill -TERM of its process is enough, calls go on), then run this again."
    );
  const { moved, old } = rotated;
  const done = `Moved ${moved} ${moved === 1 ? "secret" : "secrets"}; all are sealed with ${key}.`;
  if (old.length === 0) return done;
  return (
    `${done} The service needs ${old.join(", ")} no longer: remove it from ${where}. ` +
    "Keep it with the backups that were made before."
  );
}
