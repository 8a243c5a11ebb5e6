import { readableLog } from "@vocalhost/protocol";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";
import { childEnvironment, readServiceVariables } from "../config.ts";
import { credentialsFile } from "../credentials/credentials-file.ts";
import type { CommandContext } from "../define-command.ts";
import { exitCodes, Problem } from "../problem.ts";
import { toServiceUrl } from "../service/explain.ts";
import { findService } from "./find-service.ts";
import { toVariables, type UpOptions } from "./up-options.ts";

/** `vocalhost up` */
export async function run(options: UpOptions, context: CommandContext): Promise<number> {
  const { file, nodeOptions } = findService();
  const words = options.example === undefined ? [] : ["--example", options.example];
  const child = spawn(process.execPath, [...nodeOptions, file, ...words], {
    env: childEnvironment(toVariables(options)),
    stdio: ["ignore", "pipe", "pipe"],
    // Its own process group: a Ctrl-C in the terminal is ours to pass on, once.
    detached: true,
  });
  using ending = endWithUs(child, context);
  const output = readOutput(child, { options, context });
  const [code] = (await once(child, "close")) as [number | null];
  if (ending.isAsked()) {
    say(context, { event: "ended" }, "Everything has shut down cleanly.");
    return exitCodes.interrupted;
  }
  throw new Problem(
    "service_failed",
    output.lastWords() ?? `The service ended with exit code ${code ?? "none"}`,
    {
      fixes: ["All settings: vocalhost up --help", "Find out why: vocalhost doctor"],
    },
  );
}

/** Ctrl-C and a closed terminal ask the service to end; should this process go first, so does the service. */
function endWithUs(child: ChildProcess, context: CommandContext): Disposable & { isAsked(): boolean } {
  let isAsked = false;
  const end = (): void => {
    if (isAsked) return;
    isAsked = true;
    child.kill("SIGTERM");
    const text =
      "Shutting down: hanging up calls, stopping instances. Press Ctrl-C again to stop immediately.";
    say(context, { event: "ending" }, text);
  };
  const onExit = (): void => void child.kill("SIGTERM");
  if (context.signal.aborted) end();
  context.signal.addEventListener("abort", end);
  process.on("SIGHUP", end).on("exit", onExit);
  return {
    isAsked: () => isAsked,
    [Symbol.dispose]() {
      context.signal.removeEventListener("abort", end);
      process.off("SIGHUP", end).off("exit", onExit);
    },
  };
}

/** Log lines and what is for people come on one stream; they are told apart and shown each its way. */
function readOutput(
  child: ChildProcess,
  { options, context }: { options: UpOptions; context: CommandContext },
): { lastWords(): string | undefined } {
  const { ui, isJson } = context;
  let apiUrl: string | undefined;
  const spoken: string[] = [];

  function onLine(line: string): void {
    if (line.startsWith("{")) {
      const text = ui.isTerminal
        ? readableLog(stripVTControlCharacters(line), {
            style: (style, text) => ui.style(style, text),
            isVerbose: options.verbose === true,
          })
        : line;
      if (text !== undefined && !isJson) ui.note(text);
      return;
    }
    const [, url] = /^\s+API\s+(http\S+)$/.exec(line) ?? [];
    if (url !== undefined) {
      apiUrl = url;
      if (isJson)
        ui.print(JSON.stringify({ ok: true, event: "running", apiUrl: url, url: toServiceUrl(url) }));
    }
    if (!isJson) ui.print(line);
    const [, keysFile] = /The same is in (.*first-run\.json)/.exec(line) ?? [];
    if (keysFile !== undefined && apiUrl !== undefined)
      void signIn(keysFile, apiUrl, context).catch((error: unknown) =>
        ui.note(`Not signed in: ${String(error)}`),
      );
  }

  /** The service's last error lines become the problem that is shown. */
  function onError(line: string): void {
    if (line.startsWith("{")) return onLine(line);
    if (apiUrl === undefined) spoken.push(line.trim());
    else ui.note(line);
  }

  if (child.stdout) createInterface({ input: child.stdout }).on("line", onLine);
  if (child.stderr) createInterface({ input: child.stderr }).on("line", onError);
  return { lastWords: () => spoken.find((line) => line !== "") };
}

/** Signs in to the service after its first start, unless another service is in use. */
async function signIn(keysFile: string, apiUrl: string, context: CommandContext): Promise<void> {
  const { privateKey, publicKey } = JSON.parse(await readFile(keysFile, "utf8")) as Record<string, string>;
  const file = credentialsFile(readServiceVariables().configFolder);
  const stored = await file.read().catch(() => undefined);
  if (privateKey === undefined || publicKey === undefined) return;
  if (stored) {
    const fix = `vocalhost auth login --api-key --url ${toServiceUrl(apiUrl)}`;
    const text = `You are still signed in to ${stored.credentials.apiUrl}. To use this service: ${fix}`;
    say(context, { event: "not-signed-in", text }, text);
    return;
  }
  await file.write({ apiUrl: toServiceUrl(apiUrl), token: privateKey, publicKey });
  say(
    context,
    { event: "signed-in", file: file.path },
    `Signed in: vocalhost deploy now works on this machine (${file.path}).`,
  );
}

function say({ ui, isJson }: CommandContext, event: object, text: string): void {
  if (isJson) ui.print(JSON.stringify(event));
  else ui.note(text);
}
