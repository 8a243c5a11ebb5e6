import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { InstanceSource, InstanceSpec } from "../driver.ts";
import type { Fence } from "../local/fence.ts";
import { makeFolder, requireId, writeJson } from "../local/instance-folder.ts";
import { identityOf } from "../local/process-identity.ts";
import { watchAddress } from "../local/watch-address.ts";
import { containerOptions, bootstrapPayloadOf } from "./container-options.ts";
import type { Engine } from "./engine.ts";
import { asDriverError, EngineError } from "./engine-error.ts";
import { instanceFolderFiles } from "./instance-files.ts";
import type { KnownContainers } from "./known-containers.ts";
import type { LoadingTime } from "./loading-time.ts";
import { engineName } from "./prepare-image.ts";
import { makeSharedFiles, sharedFolderOf } from "./shared-files.ts";

export interface MakingContext {
  root: string;
  service: string;
  network: string;
  engine: Engine;
  fence: Fence;
  known: KnownContainers;
  nameOf(id: string): string;
  loading: LoadingTime;
  changed(): void;
}

/** Makes the instance's folder and its container and starts that, unless that has been done. */
export async function makeContainer(spec: InstanceSpec, context: MakingContext): Promise<void> {
  const { root, engine, fence, known, nameOf } = context;
  const folder = join(root, requireId(spec.id));
  fence.check();
  const { reference } = requireImage(spec.source);
  try {
    if (!(await makeFolder(folder))) {
      if (await engine.inspect(nameOf(spec.id))) return;
      if (await known.isBeingMade(spec.id)) return;
      await rm(folder, { recursive: true, force: true }); // its maker died before there was a container
      await makeFolder(folder);
    }
    known.drop(spec.id);
    await launch(spec, engineName(reference), { ...context, folder });
  } catch (error) {
    throw asDriverError(fullDisk(error));
  }
}

async function launch(
  spec: InstanceSpec,
  image: string,
  context: MakingContext & { folder: string },
): Promise<void> {
  const { root, engine, fence, folder, nameOf, changed, loading, service, network } = context;
  const name = nameOf(spec.id);
  const sharedFiles = sharedFolderOf(root, spec.id);
  const unwatch = new DisposableStack();
  try {
    await writeJson(identityOf(process.pid), folder, instanceFolderFiles.maker);
    await makeSharedFiles(sharedFiles);
    const cpuMillicores = loading.millicores(spec.cpuMillicores);
    await engine.create(
      containerOptions({ spec, image, name, service, network, sharedFiles, cpuMillicores }),
    );
    await writeJson({ image }, folder, instanceFolderFiles.made);
    unwatch.defer(watchAddress(sharedFiles, changed));
    await engine.startWith(name, bootstrapPayloadOf(spec));
    fence.check(); // a newer leader may have come while we were at it, and may not have seen this one
    await rm(join(folder, instanceFolderFiles.maker), { force: true });
  } catch (error) {
    if (error instanceof EngineError && error.kind === "taken") return; // another of ours was faster
    unwatch.dispose();
    await engine.remove(name).catch(() => undefined); // what is left is found by its label
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function requireImage(source: InstanceSource): InstanceSource & { kind: "image" } {
  if (source.kind === "image") return source;
  throw new Error("Containers run images; this deployment is the folder of a build");
}

function fullDisk(error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).code !== "ENOSPC") return error;
  return new EngineError("full", "The disk of the data folder is full", { cause: error });
}
