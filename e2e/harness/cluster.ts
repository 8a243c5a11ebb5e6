import { createApiClient, type ApiClient } from "@vocalhost/protocol";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { peerNames } from "../../packages/base/src/peers/peer-names.ts";
import { openPostgresStore } from "../../packages/store/src/postgres.ts";
import type { Store } from "../../packages/store/src/store.ts";
import { defaultTiming } from "../../packages/base/src/timing.ts";
import { startTestPostgres } from "../../packages/store/src/testing/test-postgres.ts";
import { makeTestAuthority, type TestAuthority } from "../../testing/peer-certificates.ts";
import { patientMs } from "../../testing/patience.ts";
import { nodeFlags, programOf } from "../../testing/programs.ts";
import { until } from "../../testing/wait.ts";
import { instancesAlive } from "../hosted/fault-service.ts";
import { watchProcess, type WatchedProcess } from "./watched-process.ts";
import { freePort } from "../../testing/free-port.ts";

/** Several controllers and gateways on one Postgres. Each controller believes to be on a machine of its own. */
export interface Cluster {
  readonly postgres: Awaited<ReturnType<typeof startTestPostgres>>;
  readonly authority: TestAuthority;
  readonly store: Store;
  readonly dataFolder: string;
  readonly gateways: ClusterGateway[];
  readonly publicKey: string;
  controller(name: string): ClusterController;
  /** Starts it, again if it was killed; resolves when it listens. */
  startController(name: string, own?: Record<string, string>): Promise<ClusterController>;
  /** As a gateway would, with the private key; gives the status. */
  ask(controller: ClusterController, method: string, path: string): Promise<number>;
  /** Warnings and errors in the logs of all of them. */
  complaints(): string;
  /** Resolves with who leads; `not` must not be it. */
  leader(not?: string): Promise<ClusterController>;
}

export interface ClusterController extends WatchedProcess {
  readonly name: string;
  readonly port: number;
}

export interface ClusterGateway {
  readonly port: number;
  /** With the private key. */
  readonly api: ApiClient;
  readonly publicApi: ApiClient;
  readonly process: WatchedProcess;
}

export interface ClusterOptions {
  environment?: Record<string, string>;
  /** Environment variables of one controller. */
  own?(controller: string): Record<string, string>;
}

const VOICE_ENGINE = fileURLToPath(new URL("../engines/pass-through-engine.ts", import.meta.url));
const NAMES = ["machine-a", "machine-b"];

/** Why there can be none here, or undefined. */
export function clusterIsMissing(): string | undefined {
  return userInfo().uid === 0 && existsSync("/usr/bin/unshare") ? undefined : "host names need root";
}

export async function startCluster(
  stack: AsyncDisposableStack,
  options: ClusterOptions = {},
): Promise<Cluster> {
  const postgres = stack.use(await startTestPostgres());
  const authority = stack.use(await makeTestAuthority());
  const dataFolder = mkdtempSync(join(tmpdir(), "vocalhost-cluster-"));
  stack.defer(() => rmSync(dataFolder, { recursive: true, force: true }));
  const ports = new Map<string, number>();
  for (const name of NAMES) ports.set(name, await freePort());
  const controllerFiles = await authority.issue("controller", [peerNames.controller]);
  const gatewayFiles = await authority.issue("gateway", [peerNames.gateway]);
  const environment = {
    ...process.env,
    VOCALHOST_STARTS_PER_MINUTE: "1000000",
    VOCALHOST_READS_PER_MINUTE: "1000000",
    VOCALHOST_DATA_DIR: dataFolder,
    VOCALHOST_VIVA_ENGINE: VOICE_ENGINE,
    VOCALHOST_DATABASE_URL: postgres.url,
    // As it is on a quiet machine; on a busy one a leader that gets no processor must not lose its place to that alone.
    VOCALHOST_TIMING: JSON.stringify({ leaseMs: Math.round(patientMs(defaultTiming.leaseMs) / 3) }),
    VOCALHOST_CONTROLLERS: [...ports.values()].map((port) => `127.0.0.1:${port}`).join(","),
    ...options.environment,
  };

  const gatewayProcesses: { port: number; process: WatchedProcess }[] = [];
  // One as a cluster's pod would be started, one by `vocalhost up`.
  for (const part of ["gateway", "up"] as const) {
    const own = { ...peerVariables(gatewayFiles), VOCALHOST_PORT: "0", VOCALHOST_PARTS: "gateway" };
    const gateway = stack.use(startPart(part, { ...environment, ...own }));
    const [, port] = await gateway.printed(/"url":"http:\/\/[^"]*:(\d+)","msg":"gateway listens"/);
    gatewayProcesses.push({ port: Number(port), process: gateway });
  }
  const publicUrl = `http://localhost:${gatewayProcesses[0]?.port}`;

  const controllers = new Map<string, ClusterController>();
  const started: WatchedProcess[] = [];
  async function startController(name: string, own: Record<string, string> = {}): Promise<ClusterController> {
    const port = ports.get(name) ?? 0;
    const part = startPart(
      "controller",
      {
        ...environment,
        ...peerVariables(controllerFiles),
        VOCALHOST_PUBLIC_URL: publicUrl,
        VOCALHOST_CONTROLLER_LISTEN: `127.0.0.1:${port}`,
        ...options.own?.(name),
        ...own,
      },
      name,
    );
    const controller = Object.assign(part, { name, port });
    controllers.set(name, controller);
    started.push(part);
    await part.printed(/"msg":"controller listens"/);
    return controller;
  }
  stack.defer(async () => {
    await Promise.all([...controllers.values()].map((each) => each[Symbol.asyncDispose]()));
    for (const { pid } of instancesAlive(dataFolder)) process.kill(pid, "SIGKILL"); // they outlive controllers
  });
  for (const name of NAMES) await startController(name);
  const store = stack.use(await openPostgresStore({ url: postgres.url, connections: 2 }));
  const { privateKey, publicKey } = JSON.parse(
    readFileSync(join(dataFolder, "first-run.json"), "utf8"),
  ) as Record<"privateKey" | "publicKey", string>;

  const controllerOf = (name: string): ClusterController => controllers.get(name)!;
  return {
    postgres,
    authority,
    store,
    dataFolder,
    publicKey,
    gateways: gatewayProcesses.map(({ port, process: each }) => {
      const baseUrl = `http://localhost:${port}/v1`;
      return {
        port,
        process: each,
        api: createApiClient({ baseUrl, token: privateKey }),
        publicApi: createApiClient({ baseUrl, token: publicKey }),
      };
    }),
    controller: controllerOf,
    startController,
    ask({ port }, method, path) {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const read = (file: string): string => readFileSync(file, "utf8");
      request({
        ...{ host: "127.0.0.1", port, method, path, agent: false, servername: peerNames.controller },
        ...{ ca: read(gatewayFiles.ca), cert: read(gatewayFiles.cert), key: read(gatewayFiles.key) },
        headers: { authorization: `Bearer ${privateKey}` },
      })
        .once("response", (response) => resolve(response.resume().statusCode ?? 0))
        .on("error", reject)
        .end();
      return promise;
    },
    complaints: () =>
      [...started, ...gatewayProcesses.map(({ process: each }) => each)]
        .flatMap((each) => each.output().split("\n"))
        .filter((line) => /"level":[45]0|"msg":"(?:leading|ending|controller (?:found|lost))"/.test(line))
        .join("\n"),
    leader: (not) =>
      until(
        async () => {
          const row = await store.db.selectFrom("leader").selectAll().executeTakeFirst();
          const name = row?.holder.split("/")[0] ?? "";
          return name !== not && controllers.get(name);
        },
        10_000,
        "leader",
      ),
  };
}

function startPart(
  part: "controller" | "gateway" | "up",
  environment: NodeJS.ProcessEnv,
  hostName?: string,
): WatchedProcess {
  const program = [process.execPath, ...nodeFlags, programOf("control-plane", `main/${part}-main`)];
  // A name of its own: a controller on the same machine as a dead leader need not wait for its lease.
  const named = ["unshare", "--uts", "sh", "-c", 'echo "$0" > /proc/sys/kernel/hostname && exec "$@"'];
  const [command = "", ...args] = hostName === undefined ? program : [...named, hostName, ...program];
  const child = spawn(command, args, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  return watchProcess(child, part);
}

function peerVariables({ ca, cert, key }: { ca: string; cert: string; key: string }): Record<string, string> {
  return { VOCALHOST_PEER_CA: ca, VOCALHOST_PEER_CERT: cert, VOCALHOST_PEER_KEY: key };
}
