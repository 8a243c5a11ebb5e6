import { Command, CommanderError } from "commander";
import { agentCommands } from "./commands/agent.ts";
import { authCommands } from "./commands/auth.ts";
import { backupCommands } from "./commands/backup.ts";
import { buildCommands } from "./commands/build.ts";
import { call } from "./commands/call.ts";
import { completion } from "./commands/completion.ts";
import { configCommands } from "./commands/config.ts";
import { deploy } from "./commands/deploy.ts";
import { dev } from "./commands/dev.ts";
import { doctor } from "./commands/doctor.ts";
import { groupSummaries } from "./commands/group-summaries.ts";
import { imageCommands } from "./commands/image.ts";
import { keysCommands } from "./commands/keys.ts";
import { logs } from "./commands/logs.ts";
import { organizationsCommands } from "./commands/organizations.ts";
import { regionsCommands } from "./commands/regions.ts";
import { secretsCommands } from "./commands/secrets.ts";
import { up } from "./commands/up.ts";
import { usage } from "./commands/usage.ts";
import { networkPolicyCommands } from "./commands/network-policy.ts";
import { toCommandNode } from "./completion/command-node.ts";
import type { CommandBody, CommandContext, CommonOptions, DefinedCommand } from "./define-command.ts";
import { listenToSignals } from "./interruption.ts";
import { exitCodes, Problem, usageProblem } from "./problem.ts";
import { createUi, type Ui } from "./ui.ts";
import { version } from "./version.ts";

const commands: readonly DefinedCommand[] = [
  dev,
  call,
  up,
  deploy,
  logs,
  ...agentCommands,
  ...secretsCommands,
  ...keysCommands,
  ...organizationsCommands,
  ...regionsCommands,
  usage,
  ...buildCommands,
  ...imageCommands,
  ...backupCommands,
  ...networkPolicyCommands,
  ...authCommands,
  ...configCommands,
  doctor,
  completion,
];

/** Runs one command line and gives its exit code. */
export async function main(words: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const wantsJson = words.includes("--json");
  const program = new Command("vocalhost")
    .description("Voice agents on your own machines.")
    .version(version, "-V, --version", "print the version")
    .helpCommand(false)
    .showHelpAfterError("(see --help)")
    .exitOverride();
  if (wantsJson) program.configureOutput({ writeErr: () => undefined });
  for (const command of commands)
    command.addTo(program, async (body, options) => {
      exitCode = await runBody(body, { ...options, tree: () => toCommandNode(program) });
    });
  for (const group of program.commands) {
    const summary = groupSummaries[group.name()];
    if (summary === undefined) continue;
    group.summary(summary).helpCommand(false);
    group.description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
  }
  if (words.length === 0) {
    program.outputHelp();
    return exitCodes.ok;
  }
  try {
    await program.parseAsync([...words], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return exitCodes.ok;
    if (wantsJson) terminal(true).problem(usageProblem(error.message.replace(/^error: /, "")));
    return exitCodes.usage;
  }
  return exitCode;
}

async function runBody(
  body: CommandBody,
  options: CommonOptions & Pick<CommandContext, "tree">,
): Promise<number> {
  const ui = terminal(options.isJson);
  using interruption = listenToSignals();
  try {
    const exitCode = await body({ ...options, ui, signal: interruption.signal });
    return interruption.exitCode ?? exitCode;
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    if (!(error instanceof Problem)) throw error;
    ui.problem(error);
    return error.exitCode;
  }
}

function terminal(isJson: boolean): Ui {
  return createUi({ output: process.stdout, errors: process.stderr, isJson });
}
