import { AgentName, ImageReference, tomlSettings } from "@vocalhost/protocol";
import { z } from "zod";

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
