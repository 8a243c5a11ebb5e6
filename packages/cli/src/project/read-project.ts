import { readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { Problem } from "../problem.ts";
import { parseProject } from "./parse-project.ts";
import type { ProjectConfig } from "./project-config.ts";

export const PROJECT_FILE = "vocalhost.toml";

export interface Project {
  /** The file; undefined where there is none. */
  path: string | undefined;
  /** Paths in the configuration start here. */
  folder: string;
  config: ProjectConfig;
}

/** Reads the project of a folder. Without a file there is nothing to say; a file that was named must exist. */
export async function readProject(workingFolder: string, named?: string): Promise<Project> {
  const path = named === undefined ? join(workingFolder, PROJECT_FILE) : resolve(workingFolder, named);
  const shownPath = relative(workingFolder, path) || path;
  try {
    const config = parseProject(await readFile(path), shownPath);
    return { path, folder: join(path, ".."), config };
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && named === undefined)
      return { path: undefined, folder: workingFolder, config: {} };
    throw new Problem("config_unreadable", `Cannot read ${shownPath}`, {
      why: code === "ENOENT" ? `${path} does not exist` : message,
      fixes: ["Name another one with --config-file, or omit it to use vocalhost.toml."],
      cause: error,
    });
  }
}
