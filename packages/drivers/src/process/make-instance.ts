import { isAppError } from "@vocalhost/protocol";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { giveToUser, type UserRange } from "./own-users.ts";
import type { InstanceSource, InstanceSpec } from "../driver.ts";
import type { Cgroups } from "./cgroups.ts";
import { keepCompiledCode } from "./compiled-code.ts";
import { endProcess } from "./end-process.ts";
import type { Fence } from "../local/fence.ts";
import { makeFolder, requireId, writeJson, writeJsonAtOnce } from "../local/instance-folder.ts";
import { type ExitedFile, folderFiles } from "./instance-folder.ts";
import { LOADING_MILLICORES } from "../loading.ts";
import type { KnownProcesses } from "./known-processes.ts";
import type { LoadingBehind } from "./loading-behind.ts";
import { identityOf } from "../local/process-identity.ts";
import { spawnInstance } from "./spawn-instance.ts";
import { watchAddress } from "../local/watch-address.ts";
import { createRequire } from "node:module";

export interface MakingContext {
  root: string;
  users: UserRange | undefined;
  /** Others whose instances run as the same users. */
  usersAlsoIn: readonly string[];
  execPath: string;
  nodeArguments: string[];
  compileCache: string | undefined;
  cgroups: Cgroups;
  fence: Fence;
  known: KnownProcesses;
  loadingBehind: LoadingBehind;
  /** Called when an address appeared or an instance ended. */
  changed(): void;
}

type Build = InstanceSource & { kind: "build" };

const PROCESSES_MAX = 256;

/** Makes the instance's folder and starts its process, unless that has been done. */
export async function makeInstance(spec: InstanceSpec, context: MakingContext): Promise<void> {
  const { root, cgroups, fence, known } = context;
  const folder = join(root, requireId(spec.id));
  fence.check();
  const build = requireBuild(spec.source);
  const entry = findEntry(build.folder);
  const isNew = await makeFolder(folder);
  if (!isNew && (await known.isTaken(spec.id))) return;
  if (!isNew) await rm(folder, { recursive: true, force: true }).then(() => makeFolder(folder));
  known.drop(spec.id);
  await writeJson(identityOf(process.pid), folder, folderFiles.maker);
  try {
    await launch(spec, { ...context, folder, entry, build });
  } catch (error) {
    context.loadingBehind.end(spec.id);
    await cgroups.remove(spec.id);
    await rm(folder, { recursive: true, force: true });
    known.drop(spec.id);
    if (isAppError(error)) throw error;
    throw new Error(`The process could not be started: ${messageOf(error)}`, { cause: error });
  }
}

async function launch(
  spec: InstanceSpec,
  context: MakingContext & { folder: string; entry: string; build: Build },
): Promise<void> {
  const { cgroups, fence, known, loadingBehind, folder, entry, build, changed } = context;
  const { execPath, nodeArguments, compileCache } = context;
  const { id, memoryMib } = spec;
  const loadingMillicores = Math.max(LOADING_MILLICORES, spec.cpuMillicores);
  const share = loadingBehind.begin(id, { isAwaited: spec.isAwaited ?? false });
  await cgroups.limit(id, { cpuMillicores: loadingMillicores, memoryMib, processes: PROCESSES_MAX, share });
  const user =
    context.users && giveToUser({ root: context.root, others: context.usersAlsoIn }, id, context.users);
  const how = { entry, execPath, nodeArguments, compileCache, user };
  const child = await spawnInstance({ spec, build, folder, ...how });
  const program = { ...identityOf(child.pid), cpuMillicores: spec.cpuMillicores, memoryMib };
  try {
    writeJsonAtOnce(program, folder, folderFiles.process);
    fence.check(); // a newer leader may have listed the folders before this one was made
  } catch (error) {
    await endProcess(program, 0); // without its folder no controller would find it
    throw error;
  }
  const about = known.about(id);
  about.process = program;
  about.child = child;
  about.exited = recordExit(child, { id, folder, cgroups });
  const unwatch = watchAddress(folder, () => {
    if (user) void keepCompiledCode(build.folder, { folder, uid: user.uid });
    changed();
  });
  void about.exited.then(() => {
    loadingBehind.end(id);
    unwatch();
    changed();
  });
  await cgroups.add(id, child.pid);
}

async function recordExit(
  child: ChildProcess,
  { id, folder, cgroups }: { id: string; folder: string; cgroups: Cgroups },
): Promise<void> {
  const { promise, resolve: ended } = Promise.withResolvers<Pick<ExitedFile, "code" | "signal">>();
  child.once("exit", (code, signal) => ended({ code, signal }));
  const how = await promise;
  const outOfMemory = (await cgroups.ranOutOfMemory(id)) || existsSync(join(folder, folderFiles.overMemory));
  // Gone with its folder if it was forgotten meanwhile.
  await writeJson({ ...how, outOfMemory }, folder, folderFiles.exited).catch(() => undefined);
}

function requireBuild(source: InstanceSource): Build {
  if (source.kind === "build") return source;
  throw new Error(`Processes run builds; the image '${source.reference}' is none`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the program that runs the bot of this folder. It belongs to the bot's own SDK. */
function findEntry(source: string): string {
  try {
    return createRequire(join(source, "package.json")).resolve("vocalhost/instance");
  } catch (cause) {
    throw new Error(
      'The bot\'s project does not hold the package "vocalhost" in a version this service can run',
      { cause },
    );
  }
}
