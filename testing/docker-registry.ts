import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./wait.ts";

/** Debian's registry on a free port of loopback, with nothing in it. */
export interface DockerRegistry extends AsyncDisposable {
  /** `127.0.0.1:port`, as image references begin. */
  host: string;
  /** All it printed. */
  output(): string;
}

export type RegistryDoor =
  | { kind: "open" }
  /** Lets in `registryUser`. */
  | { kind: "basic" }
  | { kind: "token"; realm: string; service: string; issuer: string; certificateFile: string };

export const registryUser = { username: "robot", password: "open sesame" };
// Made with bcrypt from the password above; the registry takes no other kind.
const HTPASSWD = "robot:$2y$05$abcdefghijklmnopqrstuupx2xBUC4954936wVIjyyPHmUBFu0wCW\n";

const START_DEADLINE_MS = 10_000;

export async function startDockerRegistry(door: RegistryDoor = { kind: "open" }): Promise<DockerRegistry> {
  const program = ["/usr/bin/docker-registry", "/usr/local/bin/docker-registry"].find(existsSync);
  if (program === undefined)
    throw new Error("These tests need a registry. Install it: apt-get install docker-registry");
  const folder = await mkdtemp(join(tmpdir(), "registry-"));
  await writeFile(join(folder, "htpasswd"), HTPASSWD);
  await writeFile(join(folder, "config.json"), JSON.stringify(settings(folder, door))); // JSON is YAML
  const child = spawn(program, ["serve", join(folder, "config.json")], { stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "exit");
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const end = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const host = await until(
      () => {
        if (child.exitCode !== null) throw new Error(`The registry did not start:\n${output}`);
        return /listening on (127\.0\.0\.1:\d+)/.exec(output)?.[1];
      },
      START_DEADLINE_MS,
      "registry",
    );
    return { host, output: () => output, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}

function settings(folder: string, door: RegistryDoor): unknown {
  return {
    version: 0.1,
    log: { level: "info" },
    storage: { filesystem: { rootdirectory: join(folder, "data") }, delete: { enabled: true } },
    http: { addr: "127.0.0.1:0" },
    ...authOf(folder, door),
  };
}

function authOf(folder: string, door: RegistryDoor): object {
  switch (door.kind) {
    case "open":
      return {};
    case "basic":
      return { auth: { htpasswd: { realm: "test", path: join(folder, "htpasswd") } } };
    case "token": {
      const { realm, service, issuer, certificateFile } = door;
      return { auth: { token: { realm, service, issuer, rootcertbundle: certificateFile } } };
    }
    default:
      return door satisfies never;
  }
}
