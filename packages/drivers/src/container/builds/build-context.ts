import { folderEntries, writeTar, type LayerEntry } from "@vocalhost/images";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { ImageBuildError, type ImageBuildTask } from "../../image-builder.ts";
import { BASE_NAME } from "./bring-base.ts";

/** The files an engine builds an image from. */
export interface BuildContext {
  dockerfile: string;
  /** With this Dockerfile in it; `path` says where. */
  pack(dockerfile: string, signal: AbortSignal): Promise<{ tar: Readable; path: string }>;
}

const OWNER = { uid: 0, gid: 0 } as const;
const PACKAGES = "node_modules";

/** The Dockerfile of bots without one. Packages are a layer of their own, which a changed bot keeps. */
function standardDockerfile(baseVersion: string, hasPackages: boolean): string {
  return [
    `FROM ${BASE_NAME}:${baseVersion}`,
    "WORKDIR /app",
    ...(hasPackages ? ["COPY packages ./node_modules"] : []),
    "COPY bot ./",
  ].join("\n");
}

export async function openBuildContext(
  { folder, dockerfilePath }: Pick<ImageBuildTask, "folder" | "dockerfilePath">,
  baseVersion: string,
): Promise<BuildContext> {
  if (dockerfilePath === undefined) return withoutDockerfile(folder, baseVersion);
  // Podman would run one with this ending through a preprocessor, which reads files of the machine.
  if (dockerfilePath.endsWith(".in"))
    throw new ImageBuildError("A Dockerfile whose name ends in .in is not supported");
  const dockerfile = await readFile(join(folder, dockerfilePath), "utf8").catch((cause: unknown) => {
    throw new ImageBuildError(`${dockerfilePath} cannot be read`, { cause });
  });
  return {
    dockerfile,
    async pack(text, signal) {
      const entries = await folderEntries({ folder, at: "", ...OWNER, signal });
      const others = entries.filter(({ path }) => path !== dockerfilePath);
      return { tar: writeTar([...others, file(dockerfilePath, text)], signal), path: dockerfilePath };
    },
  };
}

function withoutDockerfile(folder: string, baseVersion: string): BuildContext {
  const hasPackages = existsSync(join(folder, PACKAGES));
  return {
    dockerfile: standardDockerfile(baseVersion, hasPackages),
    async pack(text, signal) {
      const keeps = (path: string): boolean => path !== PACKAGES;
      const packages = join(folder, PACKAGES);
      const entries = [
        ...(hasPackages ? await folderEntries({ folder: packages, at: "packages", ...OWNER, signal }) : []),
        ...(await folderEntries({ folder, at: "bot", ...OWNER, keeps, signal })),
        file("Dockerfile", text),
      ];
      return { tar: writeTar(entries, signal), path: "Dockerfile" };
    },
  };
}

function file(path: string, text: string): LayerEntry {
  return { kind: "file", path, mode: 0o644, ...OWNER, source: Buffer.from(text) };
}
