import { AgentName, ImageReference, tomlSettings } from "@vocalhost/protocol";
import { readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { z } from "zod";
import { Problem } from "../problem.ts";
import { parseProject } from "./parse-project.ts";

const PROJECT_FILE = "vocalhost.toml";

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

/** What `vocalhost.toml` can say. Everything may be left out: what is absent stays as it is deployed. */
export const ProjectConfig = z.strictObject({
  agent_name: AgentName.optional(),
  image: ImageReference.optional(),
  build_id: z.uuid().optional(),
  region: z.string().min(1).max(63).optional(),
  ...tomlSettings,
  build: z
    .strictObject({
      context_dir: z.string().min(1).optional(),
      dockerfile: z.string().min(1).optional(),
      exclude: z.strictObject({ patterns: z.array(z.string().min(1)).max(1_000).optional() }).optional(),
    })
    .optional(),
});
export type ProjectConfig = z.infer<typeof ProjectConfig>;

/** Keys by the table they are in, `""` for those outside of any. */
export const knownKeys: Readonly<Record<string, readonly string[]>> = keysOf(ProjectConfig, "");

function keysOf(table: z.ZodObject, path: string): Record<string, string[]> {
  const keys: Record<string, string[]> = { [path]: Object.keys(table.shape) };
  for (const [key, schema] of Object.entries(table.shape)) {
    const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
    if (inner instanceof z.ZodObject)
      Object.assign(keys, keysOf(inner, path === "" ? key : `${path}.${key}`));
  }
  return keys;
}

/** What a command line adds; a flag wins over the file, one that was not given changes nothing. */
export function withFlags(config: ProjectConfig, flags: ProjectConfig): ProjectConfig {
  return merged(config, flags);
}

/** Tables are merged key by key; what is undefined changes nothing. */
export function merged(base: object, over: object): object {
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) continue;
    const before = result[key];
    result[key] = isTable(before) && isTable(value) ? merged(before, value) : value;
  }
  return result;
}

function isTable(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
