import { AppError } from "@vocalhost/protocol";
import { packTar, unpackTar } from "modern-tar/fs";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { chmod, mkdir, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { ObjectStore } from "./object-store/object-store.ts";
import { DriverUnavailableError, SourceGoneError } from "@vocalhost/drivers/driver";
import { closeToChanges, isOpenToAll } from "@vocalhost/drivers/process/own-users";
import { LINKED_SDK } from "./link-sdk.ts";

/** Results of builds, on this machine and in the object store, if there is one. */
export interface BuildFolders {
  /** Returns whether instances can run from it, on this machine or any other. */
  has(buildId: string): Promise<boolean>;
  /** Resolves when every controller can fetch the folder of this machine. */
  keep(buildId: string): Promise<void>;
  /** Returns its folder, fetching it first if needed. */
  bring(buildId: string): Promise<string>;
}

export interface BuildFoldersOptions {
  dataFolder: string;
  objectStore: ObjectStore | undefined;
  /** The service's own SDK, whose path differs between machines. */
  sdkFolder: string;
  /** True if instances run as their own users, who must be able to read it. @default false */
  hasUsers?: boolean;
}

/** Returns the folder of a successful build, from which its instances run. */
export function buildFolder(dataFolder: string, buildId: string): string {
  return join(dataFolder, "builds", buildId);
}

export function keptBuild(buildId: string): string {
  return `builds/${buildId}.tgz`;
}

export function createBuildFolders(options: BuildFoldersOptions): BuildFolders {
  const { dataFolder, objectStore, sdkFolder, hasUsers = false } = options;
  const folderOf = (buildId: string): string => buildFolder(dataFolder, buildId);
  const asideOf = (buildId: string, what: string): string =>
    join(dataFolder, "builds", `.${buildId}.${what}`);
  const bringing = new Map<string, Promise<string>>();

  async function fetchAndUnpack(buildId: string, from: ObjectStore): Promise<string> {
    const [archive, aside, folder] = [
      asideOf(buildId, "tgz"),
      asideOf(buildId, "brought"),
      folderOf(buildId),
    ];
    await mkdir(dirname(folder), { recursive: true, mode: 0o755 });
    try {
      if (!(await from.fetch(keptBuild(buildId), archive))) throw goneError(buildId);
      await rm(aside, { recursive: true, force: true });
      await pipeline(createReadStream(archive), createGunzip(), unpackTar(aside, { strict: true }));
      await linkSdk(aside, sdkFolder);
      await (hasUsers ? closeToChanges(aside) : chmod(aside, 0o755));
      await rename(aside, folder);
      return folder;
    } finally {
      for (const path of [archive, aside]) await rm(path, { recursive: true, force: true });
    }
  }

  // The folder may date from a time when bots ran as the service's own user.
  const isUsable = (folder: string): boolean => !hasUsers || isOpenToAll(folder);

  async function find(buildId: string): Promise<string> {
    const folder = folderOf(buildId);
    if (existsSync(folder)) await closeToChanges(folder);
    else if (objectStore) await fetchAndUnpack(buildId, objectStore);
    return folder;
  }

  return {
    has: async (buildId) =>
      existsSync(folderOf(buildId)) || ((await objectStore?.has(keptBuild(buildId))) ?? false),
    async keep(buildId) {
      if (!objectStore) return;
      const archive = asideOf(buildId, "tgz");
      const source = folderOf(buildId);
      try {
        await pipeline(
          packTar(source, {
            filter: (path, about) => !(about.isSymbolicLink() && path.endsWith(`/${LINKED_SDK}`)),
          }),
          createGzip({ level: 1 }), // mostly code, and calls need the CPU
          createWriteStream(archive, { mode: 0o600 }),
        );
        await objectStore.put(keptBuild(buildId), archive);
      } finally {
        await rm(archive, { force: true });
      }
    },
    async bring(buildId) {
      const folder = folderOf(buildId);
      if (existsSync(folder)) {
        if (isUsable(folder)) return folder;
      } else if (!objectStore) throw goneError(buildId);
      let brought = bringing.get(buildId);
      if (!brought) {
        brought = find(buildId).finally(() => bringing.delete(buildId));
        bringing.set(buildId, brought);
      }
      return brought.catch((error: unknown) => {
        if (error instanceof AppError) throw new DriverUnavailableError(error.message, { cause: error });
        throw error;
      });
    },
  };
}

function goneError(buildId: string): SourceGoneError {
  return new SourceGoneError(`The build ${buildId} is gone. Deploy the bot again.`);
}

async function linkSdk(folder: string, sdkFolder: string): Promise<void> {
  const link = join(folder, LINKED_SDK);
  if (existsSync(link)) return; // the bot has its own copy
  await mkdir(dirname(link), { recursive: true });
  await symlink(sdkFolder, link);
}
