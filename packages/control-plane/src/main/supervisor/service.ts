import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config.ts";
import type { FirstRun } from "../controller/first-run-file.ts";
import type { Log } from "@vocalhost/base/log";
import { systemClock } from "@vocalhost/base/system-clock";
import { CONFIG_EXIT_CODE } from "@vocalhost/base/run-until-told";
import { superviseRooms } from "./supervise-rooms.ts";
import { ownProgram } from "@vocalhost/base/own-files";
import { supervise, type Supervised } from "./supervise.ts";

/** The service's processes on this machine: gateway, controller or both, each restarted when it exits. */
export interface Service extends AsyncDisposable {
  readonly publicUrl: string;
  /** Set on the very first start. */
  readonly firstRun: FirstRun | undefined;
  /** Set while the service has no owner. */
  readonly ownerLink: string | undefined;
  /** Resolves with an exit code when one of its processes cannot be started at all. */
  readonly failed: Promise<number>;
}

export interface ServiceOptions {
  config: Config;
  environment: Record<string, string | undefined>;
  log: Log;
}

const END_SESSIONS_MS = 8_500;

/** Resolves when requests are served; rejects with `ServiceFailedError` if that is impossible. */
export async function startService({ config, environment, log }: ServiceOptions): Promise<Service> {
  const base = { clock: systemClock, log, timing: config.timing };
  await using stack = new AsyncDisposableStack(); // undoes an incomplete start
  const running = stack.use(new AsyncDisposableStack()); // last of all: calls may still be in rooms
  let isOver = false;
  const start = (name: "gateway" | "controller", own: Record<string, string | undefined>): Supervised =>
    stack.use(
      supervise({ ...base, name, file: ownProgram(import.meta, `main/${name}-main`), environment: own }),
    );
  const gateway = config.parts === "controller" ? undefined : start("gateway", environment);
  const listening = gateway && (await orFailed(gateway.told("listening"), gateway.ended));
  const publicUrl = config.port === 0 && listening ? localUrl(config.host, listening) : config.publicUrl;
  if (config.parts === "gateway")
    return toService({ publicUrl, failed: gateway!.ended, owned: stack.move() });
  const controller = start("controller", {
    ...(await compileCacheIn(config.dataFolder)),
    ...environment,
    VOCALHOST_PUBLIC_URL: publicUrl,
  });
  void controller.told("want-rooms").then(async (wanted) => {
    const { apiSecret, botAddresses } = wanted as { apiSecret: string; botAddresses: string[] };
    const rooms = await superviseRooms({ ...base, environment, apiSecret, botAddresses });
    if (isOver) return rooms[Symbol.asyncDispose]();
    running.use(rooms);
    await rooms.told("listening");
    for (const each of [gateway, controller]) each?.send({ type: "rooms", ...rooms.addresses });
  });
  const { firstRun, ownerLink } = (await orFailed(controller.told("ready"), controller.ended)) as {
    firstRun: FirstRun | null;
    ownerLink: string | null;
  };
  stack.defer(() => void (isOver = true));
  stack.defer(async () => {
    controller.send({ type: "end-sessions" });
    const late = new AbortController();
    await Promise.race([
      controller.told("sessions-ended"),
      controller.ended,
      systemClock.sleep(END_SESSIONS_MS, late.signal),
    ]);
    late.abort();
  });
  const failed = Promise.race([...(gateway ? [gateway.ended] : []), controller.ended]);
  return toService({ publicUrl, firstRun, ownerLink, failed, owned: stack.move() });
}

interface Started {
  publicUrl: string;
  firstRun?: FirstRun | null;
  ownerLink?: string | null;
  failed: Promise<number>;
  owned: AsyncDisposableStack;
}

function toService({ publicUrl, firstRun, ownerLink, failed, owned }: Started): Service {
  return {
    publicUrl,
    firstRun: firstRun ?? undefined,
    ownerLink: ownerLink ?? undefined,
    failed,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function localUrl(host: string, listening: object): string {
  return `http://${shownHost(host)}:${(listening as { port: number }).port}`;
}

/** A process of the service cannot run. The message is empty if the process has already logged the reason. */
export class ServiceFailedError extends Error {
  override readonly name = "ServiceFailedError";
}

async function orFailed<T>(promise: Promise<T>, ended: Promise<number>): Promise<T> {
  return Promise.race([
    promise,
    ended.then((code) => {
      const isSaid = code === CONFIG_EXIT_CODE;
      throw new ServiceFailedError(isSaid ? "" : `The service could not be started (exit code ${code})`);
    }),
  ]);
}

// A compile cache restarts a crashed controller much faster. The folder is made here, because Node would make it
// readable to all users. The service also works without it.
async function compileCacheIn(dataFolder: string): Promise<Record<string, string>> {
  const folder = join(dataFolder, "compile-cache");
  return mkdir(folder, { recursive: true, mode: 0o700 }).then(
    () => ({ NODE_COMPILE_CACHE: folder }),
    () => ({}),
  );
}

function shownHost(host: string): string {
  return host === "0.0.0.0" || host === "::" ? "localhost" : host;
}
