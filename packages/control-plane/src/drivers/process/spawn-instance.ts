import { instanceVariables } from "@vocalhost/protocol";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { InstanceSpec } from "../driver.ts";
import { hostEnvironment } from "./config.ts";
import { OUTPUT_FILE } from "./output-file.ts";

export interface SpawnOptions {
  spec: InstanceSpec;
  /** Of the instance, absolute. */
  folder: string;
  entry: string;
  execPath: string;
  nodeArguments: string[];
}

/** A process of its own session, which neither dies with us nor needs us to take its output. */
export async function spawnInstance(options: SpawnOptions): Promise<ChildProcess & { pid: number }> {
  const { spec, folder } = options;
  const compileCache = await compileCacheOf(spec.source);
  const output = openSync(join(folder, OUTPUT_FILE), "a", 0o600);
  try {
    const child = spawn(options.execPath, [...options.nodeArguments, options.entry], {
      cwd: spec.source,
      detached: true,
      stdio: ["ignore", output, output],
      env: {
        ...hostEnvironment(),
        ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache }),
        ...spec.environment,
        [instanceVariables.id]: spec.id,
        [instanceVariables.token]: spec.token,
        [instanceVariables.folder]: folder,
        [instanceVariables.heartbeatMs]: String(spec.heartbeatMs),
        [instanceVariables.aloneMs]: String(spec.aloneMs),
        ...(spec.botFile === undefined ? {} : { [instanceVariables.bot]: spec.botFile }),
      },
    });
    child.unref();
    if (child.pid === undefined) await once(child, "spawn"); // rejects with the reason
    return child as ChildProcess & { pid: number };
  } finally {
    closeSync(output);
  }
}

// Halves the time a bot takes to load. In the build's folder, so that it goes with the build.
async function compileCacheOf(source: string): Promise<string | undefined> {
  const folder = join(source, "node_modules/.compile-cache");
  return mkdir(folder).then(
    () => folder,
    (error: NodeJS.ErrnoException) => (error.code === "EEXIST" ? folder : undefined),
  );
}
