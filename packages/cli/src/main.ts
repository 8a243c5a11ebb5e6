import { Command, CommanderError } from "commander";
import { wordOf } from "./command-option.ts";
import { agentCommands } from "./commands/agent.ts";
import { authCommands, configCommands } from "./commands/auth.ts";
import { call } from "./commands/call.ts";
import { buildCommands, deploy, logs } from "./commands/deploy.ts";
import { dev } from "./commands/dev.ts";
import { doctor } from "./commands/doctor.ts";
import { imageCommands } from "./commands/image.ts";
import { keysCommands } from "./commands/keys.ts";
import { backupCommands, networkPolicyCommands, up } from "./commands/operate.ts";
import { organizationsCommands, regionsCommands, usage } from "./commands/organizations.ts";
import { secretsCommands } from "./commands/secrets.ts";
import { shells, toCommandNode } from "./completion/command-node.ts";
import {
  defineCommand,
  type CommandBody,
  type CommandContext,
  type CommonOptions,
  type DefinedCommand,
} from "./define-command.ts";
import { exitCodes, Problem, usageProblem } from "./problem.ts";
import { createUi, type Ui } from "./ui.ts";
import { version } from "./version.ts";

const completion = defineCommand({
  name: "completion",
  summary: "print a script that completes commands in your shell",
  description: "Prints a script for your shell that completes commands, options and their values.",
  arguments: { shell: wordOf({ values: shells, help: "your shell" }) },
  options: {},
  examples: [
    { line: "source <(vocalhost completion bash)", about: "for this terminal; in ~/.bashrc for all" },
    { line: 'vocalhost completion zsh > "${fpath[1]}/_vocalhost"', about: "for zsh" },
    { line: "vocalhost completion fish > ~/.config/fish/completions/vocalhost.fish", about: "for fish" },
  ],
  load: async () => (await import("./completion/completion-script.ts")).run,
});

export const commands: readonly DefinedCommand[] = [
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

/** Summaries of the command groups. */
export const groupSummaries: Readonly<Record<string, string>> = {
  auth: "sign in to a service and out again",
  agent: "inspect agents, start and stop their sessions, roll back",
  secrets: "store secrets for your bots",
  regions: "where agents can run",
  keys: "keys for applications and servers",
  organizations: "organisations you belong to, and their quotas",
  build: "inspect builds",
  image: "make container images, push and load them",
  "network-policy": "what bots in containers may reach",
  "master-keys": "keys that seal stored secrets",
  store: "where the service keeps its data",
  config: "see which settings are used",
};

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

/** The first Ctrl-C asks the command to end, the second ends the process. A closed output counts as a Ctrl-C. */
interface Interruption extends Disposable {
  readonly signal: AbortSignal;
  /** Undefined until an interruption. */
  readonly exitCode: number | undefined;
}

const TERMINATED = 143;
const UNREAD = 141; // as if ended by SIGPIPE: `vocalhost dev | head`

function listenToSignals(): Interruption {
  const controller = new AbortController();
  let exitCode: number | undefined;

  function interrupt(code: number): void {
    if (exitCode !== undefined) process.exit(code);
    exitCode = code;
    controller.abort();
  }

  const onInterrupt = (): void => interrupt(exitCodes.interrupted);
  const onTerminate = (): void => interrupt(TERMINATED);
  const onUnread = (): void => {
    exitCode ??= UNREAD; // each further line fails too, and must not end the process
    controller.abort();
  };
  const outputs = [process.stdout, process.stderr];
  for (const output of outputs) output.on("error", onUnread);
  process.on("SIGINT", onInterrupt).on("SIGTERM", onTerminate);
  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    [Symbol.dispose]() {
      process.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate);
    },
  };
}
