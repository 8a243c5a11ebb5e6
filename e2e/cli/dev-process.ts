import { spawn } from "node:child_process";
import { createBotFolder, type BotFolder } from "../harness/bot-folder.ts";
import { call } from "../harness/raw-http.ts";
import { openSocket, type SocketClient } from "../harness/socket-client.ts";
import { watchProcess, type WatchedProcess } from "../harness/watched-process.ts";
import { commandLine } from "../../testing/programs.ts";

/** `vocalhost dev` in a folder of its own. */
export interface DevProcess extends AsyncDisposable {
  readonly program: WatchedProcess;
  readonly folder: BotFolder;
  readonly port: number;
}

export interface DevOptions {
  files: Record<string, string>;
  flags?: string[];
}

export async function startDev(options: DevOptions): Promise<DevProcess> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(createBotFolder(options.files));
  const program = stack.use(spawnDev(folder, ["--port", "0", ...(options.flags ?? [])]));
  const [, port] = await program.printed(/Talk to it\s+http:\/\/[^:]+:(\d+)/);
  const owned = stack.move();
  return { program, folder, port: Number(port), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The command without a terminal. */
export function spawnDev(folder: BotFolder, words: string[]): WatchedProcess {
  const child = spawn(process.execPath, [commandLine, "dev", ...words], {
    cwd: folder.path,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return watchProcess(child, "dev server");
}

/** The command on a terminal, which `script` makes up; what is written to its input are keys. */
export function spawnDevOnTerminal(folder: BotFolder, words: string[]): WatchedProcess {
  const line = [process.execPath, commandLine, "dev", ...words].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd: folder.path,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, TERM: "xterm", PATH: "/usr/bin:/bin" },
  });
  return watchProcess(child, "dev server");
}

/** A bot that tells which code it is and which process it is in, to clients and at `/version`. */
export function botThatSays(text: string): string {
  return `
import { createTransport, type RunnerArguments } from "vocalhost";
import { app } from "vocalhost/runner";
import { prompt } from "./prompt.ts";

const version = { text: ${JSON.stringify(text)}, prompt, pid: process.pid };
app.get("/version", async (request) => ({ ...version, sessionId: request.sessionId }));

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  transport.rtvi.on("client-message", ({ respond }) => respond(version));
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
`;
}

export const PROMPT = `export const prompt: string = "be kind";\n`;

export interface Version {
  text: string;
  prompt: string;
  pid: number;
}

/** Asks a session which code it runs on. */
export async function versionOf(client: SocketClient): Promise<Version> {
  client.messages.length = 0;
  client.sendMessage({ label: "rtvi-ai", id: "1", type: "client-message", data: { t: "version", d: null } });
  const { data } = await client.message("server-response");
  return (data as { d: Version }).d;
}

export function openSession(port: number, query = ""): Promise<SocketClient> {
  return openSocket(`ws://localhost:${port}/ws-client${query}`);
}

/** Returns the code that new sessions run on. */
export async function newestVersion(port: number): Promise<Version> {
  return (await call(port, "GET /version")).json() as Version;
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
