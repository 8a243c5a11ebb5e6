import { instanceVariables } from "@vocalhost/protocol";
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compiledCode } from "../../../../../testing/compiled-code.ts";
import { nodeFlags, programOf } from "../../../../../testing/programs.ts";
import type { ApiObject, StandInApi } from "./stand-in-api.ts";

const PORT_INSIDE = 7860;
const LET_GO_MS = 300; // a node says that a container has ended before it lets go of its pod
let pods = 0;

/** Runs the pods of a stand-in as processes of this machine, each at a loopback address of its own. */
export function startStandInKubelet(api: StandInApi): Disposable & {
  /** The folder of a bot that pods of this image run. */
  images: Map<string, string>;
} {
  const images = new Map<string, string>();
  const folder = mkdtempSync(join(tmpdir(), "kubelet-"));
  const running = new Map<string, { child: ChildProcess; grace: NodeJS.Timeout | undefined }>();
  const printed = new Map<
    string,
    { lines: string[]; isOver: boolean; rest: string; heard: Set<() => void> }
  >();

  function look(kind: string, pod: ApiObject): void {
    if (kind !== "pods") return;
    const { name = "", deletionTimestamp } = pod.metadata;
    const image = images.get(pod["spec"].containers[0].image as string);
    const run = running.get(name);
    if (deletionTimestamp !== undefined && run && !run.grace) end(name, run, pod);
    if (image === undefined || pod["spec"].nodeName !== undefined || deletionTimestamp !== undefined) return;
    pod["spec"].nodeName = "here";
    start(name, pod, image);
  }

  function end(
    name: string,
    run: { child: ChildProcess; grace: NodeJS.Timeout | undefined },
    pod: ApiObject,
  ): void {
    run.child.kill("SIGTERM");
    const seconds = pod.metadata.deletionGracePeriodSeconds ?? 30;
    run.grace = setTimeout(() => run.child.kill("SIGKILL"), seconds * 1_000);
  }

  function start(name: string, pod: ApiObject, project: string): void {
    const ip = `127.${20 + (process.pid % 200)}.${Math.floor(++pods / 250)}.${1 + (pods % 250)}`;
    const message = join(folder, `${name}.message`);
    writeFileSync(message, "");
    const child = spawn(process.execPath, [...nodeFlags, programOf("sdk", "instance/main")], {
      cwd: project,
      env: environmentOf(pod, { ip, message }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = { lines: [] as string[], isOver: false, rest: "", heard: new Set<() => void>() };
    printed.set(name, output);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => print(output, text));
    running.set(name, { child, grace: undefined });
    const startedAt = new Date().toISOString();
    api.change("pods", name, (object) => {
      object["status"] = {
        phase: "Running",
        podIP: ip,
        hostIP: "127.0.0.1",
        conditions: [{ type: "Ready", status: "True" }],
        containerStatuses: [{ name: "bot", ready: true, state: { running: { startedAt } } }],
      };
    });
    child.once("close", (code, signal) => {
      clearTimeout(running.get(name)?.grace);
      running.delete(name);
      if (output.rest !== "") print(output, "\n");
      output.isOver = true;
      for (const heard of output.heard) heard();
      const exitCode = code ?? (signal === "SIGKILL" ? 137 : 143);
      api.change("pods", name, (object) => {
        const terminated = {
          exitCode,
          reason: exitCode === 0 ? "Completed" : "Error",
          startedAt,
          message: existsSync(message) ? readFileSync(message, "utf8").slice(-4096) : "", // or the test is over
        };
        object["status"].phase = exitCode === 0 ? "Succeeded" : "Failed";
        object["status"].containerStatuses = [{ name: "bot", ready: false, state: { terminated } }];
      });
      setTimeout(() => api.released(name), LET_GO_MS);
    });
  }

  function print(output: { lines: string[]; rest: string; heard: Set<() => void> }, text: string): void {
    const [rest = "", ...lines] = (output.rest + text).split("\n").toReversed();
    output.rest = rest;
    for (const line of lines.toReversed())
      output.lines.push(
        `${new Date().toISOString().replace("Z", `${String(output.lines.length % 1e6).padStart(6, "0")}Z`)} ${line}`,
      );
    for (const heard of output.heard) heard();
  }

  function environmentOf(
    pod: ApiObject,
    { ip, message }: { ip: string; message: string },
  ): NodeJS.ProcessEnv {
    const [container] = pod["spec"].containers as {
      envFrom: { secretRef: { name: string } }[];
      env: { name: string; value?: string }[];
    }[];
    const secret = api.find("secrets", container?.envFrom[0]?.secretRef.name ?? "");
    const data = (secret?.["data"] ?? {}) as Record<string, string>;
    return {
      ...compiledCode,
      ...Object.fromEntries(
        Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]),
      ),
      ...Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value ?? ip])),
      // One machine for all: what a container has to itself, its address has here.
      [instanceVariables.listen]: `${ip}:${PORT_INSIDE}`,
      [instanceVariables.terminationMessage]: message,
    };
  }

  api.onChange(look);
  api.logs((name, query, response) => {
    const output = printed.get(name);
    response.writeHead(200, { "content-type": "text/plain" }).flushHeaders();
    if (!output) return void response.end("unable to retrieve container logs for containerd://gone");
    let at = 0;
    const since = query.get("sinceTime") ?? "";
    const tell = (): void => {
      for (; at < output.lines.length; at++) {
        const line = output.lines[at] ?? "";
        if (line.slice(0, since.length || undefined) >= since) response.write(`${line}\n`);
      }
      if (output.isOver || query.get("follow") !== "true") response.end();
    };
    output.heard.add(tell);
    response.on("close", () => output.heard.delete(tell));
    return tell();
  });
  return {
    images,
    [Symbol.dispose]() {
      for (const { child, grace } of running.values()) {
        clearTimeout(grace);
        child.kill("SIGKILL");
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
