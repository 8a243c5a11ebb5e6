import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { watchProcess, type WatchedProcess } from "./watched-process.ts";

export interface TurnServerOptions {
  /** Where it listens and where its relays are. */
  address: string;
  secret: string;
  /** Put before its command, to run it in another network. */
  within?: readonly string[];
}

/** Which of these programs there are not. */
export function missingPrograms(...programs: string[]): string[] {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return programs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))));
}

/** A coturn on port 3478; resolves when it serves. */
export async function startTurnServer(options: TurnServerOptions): Promise<WatchedProcess> {
  const { address, secret, within = [] } = options;
  const [command, ...args] = [...within, "turnserver"];
  const settings = [
    ...["-n", "--no-tls", "--no-dtls", "--no-cli", "--log-file=stdout", "--simple-log", "--verbose"],
    ...[`--listening-ip=${address}`, `--relay-ip=${address}`, "--listening-port=3478"],
    ...["--use-auth-secret", `--static-auth-secret=${secret}`, "--realm=vocalhost.test"],
    "--pidfile=/dev/null",
  ];
  const child = spawn(command, [...args, ...settings], { stdio: ["ignore", "pipe", "pipe"] });
  const server = watchProcess(child, "TURN server");
  await server.printed(/Total General servers/i).catch(async (error: unknown) => {
    await server.end("SIGKILL");
    throw error;
  });
  return server;
}
