import { instanceFiles, instanceVariables, InstanceStatus, InstanceEvent } from "@vocalhost/protocol";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import { compiledCode } from "../../../../testing/compiled-code.ts";
import { until, within } from "../../../../testing/wait.ts";
import { nodeFlags, programOf } from "../../../../testing/programs.ts";

export const INSTANCE_TOKEN = "0123456789abcdef";

export interface InstanceProcessOptions {
  /** Text of `bot.ts`. */
  bot: string;
  variables?: Partial<Record<keyof typeof instanceVariables, string>>;
  environment?: Record<string, string>;
}

const SDK = fileURLToPath(new URL("../../", import.meta.url));
const DEADLINE_MS = 20_000;

/** Starts a hosted instance as a driver does, with a bot of its own. */
export function spawnInstance(options: InstanceProcessOptions) {
  const folder = mkdtempSync(join(tmpdir(), "instance-"));
  const project = join(folder, "project");
  mkdirSync(join(project, "node_modules"), { recursive: true });
  symlinkSync(SDK, join(project, "node_modules/vocalhost"));
  writeFileSync(join(project, "package.json"), `{ "type": "module" }`);
  writeFileSync(join(project, "bot.ts"), options.bot);
  const variables = {
    id: "instance-1",
    token: INSTANCE_TOKEN,
    folder,
    heartbeatMs: "100",
    bot: "bot.ts",
    ...options.variables,
  };
  const child = spawn(process.execPath, [...nodeFlags, programOf("sdk", "instance/main")], {
    cwd: project,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...compiledCode,
      ...options.environment,
      ...Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [
          instanceVariables[name as keyof typeof instanceVariables],
          value,
        ]),
      ),
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => void (output += text));
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;

  const read = (name: string): unknown => {
    try {
      return JSON.parse(readFileSync(join(folder, name), "utf8"));
    } catch {
      return undefined;
    }
  };

  async function address(): Promise<string> {
    return until(
      () => {
        if (child.exitCode !== null) throw new Error(`The instance ended with ${child.exitCode}:\n${output}`);
        try {
          return readFileSync(join(folder, instanceFiles.address), "utf8");
        } catch {
          return undefined;
        }
      },
      DEADLINE_MS,
      "address",
    );
  }

  async function request(
    method: string,
    path: string,
    body?: unknown,
    token: string | null = INSTANCE_TOKEN,
  ) {
    const response = await fetch(`http://${await address()}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: (text ? JSON.parse(text) : undefined) as Record<string, unknown>,
    };
  }

  return {
    child,
    folder,
    output: () => output,
    exited: async () => (await within(exited, DEADLINE_MS, "exit"))[0],
    address,
    request,
    status: async () => InstanceStatus.parse((await request("GET", "/instance")).body),
    start: (sessionId: string, input: object = {}) =>
      request("POST", "/instance/start", {
        epoch: 1,
        sessionId,
        transport: "websocket",
        connect: { kind: "socket" },
        maxDurationMs: 60_000,
        connectDeadlineMs: 30_000,
        ...input,
      }),
    stop: (sessionId: string, input: object = {}) =>
      request("POST", "/instance/stop", { epoch: 1, sessionId, reason: "stopped", ...input }),
    exitRecord: (sessionId: string) => read(instanceFiles.exit(sessionId)),
    aliveRecord: () => read(instanceFiles.alive),
    /** Collects events until it is closed or the instance ends. */
    async events() {
      const stop = new AbortController();
      const response = await fetch(`http://${await address()}/instance/events`, {
        headers: { authorization: `Bearer ${INSTANCE_TOKEN}` },
        signal: stop.signal,
      });
      const seen: InstanceStatus[] = [];
      void readLines(response, (line) => seen.push(InstanceEvent.parse(JSON.parse(line)).status));
      return { seen, close: () => stop.abort() };
    },
    async socket(path: string, token: string = INSTANCE_TOKEN): Promise<WebSocket> {
      const socket = new WebSocket(`ws://${await address()}${path}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      await once(socket, "open");
      return socket;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function readLines(response: Response, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const bytes of response.body ?? []) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(take);
    }
  } catch {
    // closed by the test, or by the end of the instance
  }
}
