import { AgentName, ImageReference, tomlSettings } from "@vocalhost/protocol";
import { z } from "zod";

/** The schema of `vocalhost.toml`. A setting that is left out keeps its deployed value. */
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

/** Merges flags over the project file; flags that were not given change nothing. */
export function withFlags(config: ProjectConfig, flags: ProjectConfig): ProjectConfig {
  return merged(config, flags);
}

/** Merges tables key by key; undefined values change nothing. */
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
