import { instanceVariables } from "@vocalhost/protocol";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import type { RunAs } from "./own-users.ts";
import { giveNoPrecedence } from "./precedence.ts";
import type { InstanceSource, InstanceSpec } from "../driver.ts";
import { heapLimit } from "../heap-limit.ts";
import { mediaVariables } from "../media-variables.ts";
import { ownCode, sharedCode } from "./compiled-code.ts";
import { hostEnvironment } from "./config.ts";
import { OUTPUT_FILE } from "../local/output-file.ts";

export interface SpawnOptions {
  spec: InstanceSpec;
  build: InstanceSource & { kind: "build" };
  /** The instance's folder, as an absolute path. */
  folder: string;
  entry: string;
  execPath: string;
  nodeArguments: string[];
  /** Shared with all others, unless each has a user of its own. @default one of the build's own */
  compileCache: string | undefined;
  /** @default the service's own user */
  user: RunAs | undefined;
}

// V8 begins with 1 MiB for what is new, and copies what a start makes over and over as that grows; more than 4 would stay in
// memory with every instance that waits.
const YOUNG_SPACE = "--min-semi-space-size=4";

/** Starts a process in a session of its own. It outlives the service, and writes its output to a file itself. */
export async function spawnInstance(options: SpawnOptions): Promise<ChildProcess & { pid: number }> {
  const { spec, build, folder, user } = options;
  const compileCache = user
    ? await ownCode(build.folder, { folder, user })
    : (options.compileCache ?? (await sharedCode(build.folder)));
  const entry = entryFrom(build.folder, options.entry);
  const output = openSync(join(folder, OUTPUT_FILE), "a", 0o600);
  try {
    const child = spawn(
      options.execPath,
      [...options.nodeArguments, YOUNG_SPACE, heapLimit(spec.memoryMib), entry],
      {
        cwd: build.folder,
        ...user,
        detached: true,
        stdio: ["ignore", output, output],
        env: {
          ...hostEnvironment(),
          ...(user ? { HOME: folder } : {}),
          ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache }),
          ...spec.environment,
          [instanceVariables.id]: spec.id,
          [instanceVariables.token]: spec.token,
          [instanceVariables.folder]: folder,
          [instanceVariables.heartbeatMs]: String(spec.heartbeatMs),
          [instanceVariables.aloneMs]: String(spec.aloneMs),
          ...mediaVariables(spec.media),
          ...(build.botFile === undefined ? {} : { [instanceVariables.bot]: build.botFile }),
        },
      },
    );
    child.unref();
    giveNoPrecedence(child.pid);
    if (child.pid === undefined) await once(child, "spawn"); // rejects with the reason
    return child as ChildProcess & { pid: number };
  } finally {
    closeSync(output);
  }
}

// Every user can read the arguments of a process, so they hold no path to the build.
function entryFrom(build: string, entry: string): string {
  const path = relative(realpathSync(build), entry);
  return path.startsWith("..") ? entry : path;
}
