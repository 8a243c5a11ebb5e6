import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { watchProcess, type WatchedProcess } from "./watched-process.ts";

/** A project of `npm create vocalhost -- --template web`, with our packages as if they were installed. */
export interface WebProject extends Disposable {
  readonly path: string;
  /** `npm run build`; gives the folder of the page. */
  build(environment: Record<string, string>): string;
  /** `npm run dev` as in a terminal, the bot at this port. */
  dev(options: { port: number; environment?: Record<string, string> }): Promise<DevPage>;
}

export interface DevPage extends WatchedProcess {
  /** Address of the page. */
  readonly url: string;
}

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const CREATE = join(REPOSITORY, "packages/create-vocalhost/bin/create-vocalhost.js");

export function createWebProject(): WebProject {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-web-"));
  const path = join(folder, "my-site");
  const words = [CREATE, path, "--template", "web", "--yes", "--no-install"];
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`No project was made:\n${stderr}`);
  linkPackages(join(path, "node_modules"));
  return {
    path,
    build(environment) {
      const env = { ...process.env, ...environment };
      const built = spawnSync("npm", ["run", "build"], { cwd: path, env, encoding: "utf8" });
      if (built.status !== 0) throw new Error(`The page was not built:\n${built.stdout}${built.stderr}`);
      return join(path, "dist");
    },
    async dev({ port, environment = {} }) {
      const child = spawn("npm", ["run", "dev"], {
        cwd: path,
        detached: true, // a group of its own, as a terminal makes one
        env: { ...process.env, BROWSER: "none", NO_COLOR: "1", VOCALHOST_PORT: String(port), ...environment },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const watched = watchProcess(child, "npm run dev");
      const end: WatchedProcess["end"] = async (signal = "SIGINT") => {
        if (child.exitCode === null && child.pid !== undefined) endGroup(child.pid, signal);
        return watched.end(signal);
      };
      try {
        await watched.printed(/Talk to it/);
        const [, url = ""] = await watched.printed(/Local:\s+(http:\S+)/);
        return { ...watched, url, end, [Symbol.asyncDispose]: async () => void (await end()) };
      } catch (error) {
        await end("SIGKILL");
        throw error;
      }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** As Ctrl-C reaches all of it; it may have ended by itself just now. */
function endGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Each by itself, so that Vite's cache stays in the project. */
// The packages of a page in React are installed apart, with a React and a client of their own.
function linkPackages(folder: string): void {
  mkdirSync(folder);
  const linked = new Set<string>();
  for (const from of ["e2e/realtime/react-clients/node_modules", "node_modules"])
    for (const name of readdirSync(join(REPOSITORY, from))) {
      if (/^\.(?!bin$)/.test(name) || linked.has(name)) continue;
      if (name === ".bin" && from !== "node_modules") continue;
      symlinkSync(join(REPOSITORY, from, name), join(folder, name));
      linked.add(name);
    }
}

/** Returns a port at which no process listens now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "localhost");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
