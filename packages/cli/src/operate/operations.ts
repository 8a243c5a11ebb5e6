import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { childEnvironment } from "../config.ts";
import type { CommandContext } from "../define-command.ts";
import { Problem } from "../problem.ts";
import { findService } from "../up/find-service.ts";
import { toServiceVariables, type OperateOptions } from "./operate-options.ts";

interface TakenBackup {
  file: string;
  bytes: number;
  manifest: { agents: number; sessions: number; builds: string[] };
}

/** `vocalhost backup` */
export async function backup(
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

interface Restored {
  manifest: { version: string; createdAt: string; agents: number; sessions: number };
}

/** `vocalhost restore` */
export async function restore(
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

interface Copied {
  tables: { table: string; rows: number }[];
}

/** `vocalhost store copy` */
export async function copyStore(options: OperateOptions, context: CommandContext): Promise<number> {
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

interface Compacted {
  file: string;
  beforeBytes: number;
  afterBytes: number;
}

/** `vocalhost store compact` */
export async function compactStore(options: OperateOptions, context: CommandContext): Promise<number> {
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

type Rotated =
  | { state: "restart"; key: string; where: string }
  | { state: "done"; key: string; where: string; moved: number; old: string[] };

/** `vocalhost master-keys rotate` */
export async function rotateMasterKeys(options: OperateOptions, context: CommandContext): Promise<number> {
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

interface Operation {
  words: string[];
  options: OperateOptions;
  /** Shown while the operation runs. */
  title: string;
}

/** Runs the service's own program, shows its progress, and returns its result. */
export async function runOperation<Done>(
  operation: Operation,
  { ui, signal }: CommandContext,
): Promise<Done> {
  return ui.task(operation.title, (update) =>
    askProgram<Done>(operation, { signal, progress: (text) => update(undefined, text) }),
  );
}

export async function askProgram<Done>(
  operation: Omit<Operation, "title">,
  { signal, progress }: { signal: AbortSignal; progress?(text: string | undefined): void },
): Promise<Done> {
  const { file, nodeOptions } = findService("operate");
  const child = spawn(process.execPath, [...nodeOptions, file, ...operation.words], {
    env: childEnvironment(toServiceVariables(operation.options)),
    stdio: ["ignore", "pipe", "pipe"],
    signal,
    killSignal: "SIGTERM",
  });
  child.on("error", () => undefined); // Ctrl-C
  let done: Done | undefined;
  let said = "";
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as { event: string; text?: string };
    if (message.event === "progress") progress?.(message.text);
    else done = message as Done;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code === 0 && done !== undefined) return done;
  throw new Problem("operation_failed", said.trim() || `It ended with exit code ${code ?? "none"}`, {
    fixes: ["Which service is meant: --data-dir, --settings, or the variables of vocalhost up"],
  });
}
