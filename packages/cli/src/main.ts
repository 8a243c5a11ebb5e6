import { Command, CommanderError } from "commander";
import { call } from "./commands/call.ts";
import type { CommandBody, DefinedCommand } from "./define-command.ts";
import { listenToSignals } from "./interruption.ts";
import { exitCodes, Problem } from "./problem.ts";
import { createUi } from "./ui.ts";
import { version } from "./version.ts";

const commands: readonly DefinedCommand[] = [call];

/** Runs one command line and gives its exit code. */
export async function main(words: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const program = new Command("vocalhost")
    .description("Voice agents on your own machines.")
    .version(version, "-V, --version", "print the version")
    .helpCommand(false)
    .showHelpAfterError("(--help shows what there is)")
    .exitOverride();
  for (const command of commands)
    command.addTo(program, async (body, isJson) => {
      exitCode = await runBody(body, isJson);
    });
  if (words.length === 0) {
    program.outputHelp();
    return exitCodes.ok;
  }
  try {
    await program.parseAsync([...words], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
  return exitCode;
}

async function runBody(body: CommandBody, isJson: boolean): Promise<number> {
  const ui = createUi({ output: process.stdout, errors: process.stderr, isJson });
  using interruption = listenToSignals();
  try {
    const exitCode = await body({ ui, isJson, signal: interruption.signal });
    return interruption.exitCode ?? exitCode;
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    if (!(error instanceof Problem)) throw error;
    ui.problem(error);
    return error.exitCode;
  }
}
