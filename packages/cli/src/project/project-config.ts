import { AgentName, AgentProfile, agentLimits, AudioFilter, ImageReference } from "@vocalhost/protocol";
import { z } from "zod";

const agentCount = (least: number): z.ZodNumber => z.int().min(least).max(agentLimits.agents);

/** What `vocalhost.toml` can say. Everything may be left out: what is absent stays as it is deployed. */
export const ProjectConfig = z.strictObject({
  agent_name: AgentName.optional(),
  image: ImageReference.optional(),
  build_id: z.uuid().optional(),
  image_credentials: z.string().min(1).max(63).optional(),
  secret_set: z.string().max(63).optional(), // empty unbinds the set
  region: z.string().min(1).max(63).optional(),
  agent_profile: AgentProfile.optional(),
  max_session_duration: z
    .int()
    .min(agentLimits.minSessionDurationS)
    .max(agentLimits.maxSessionDurationS)
    .optional(),
  websocket_auth: z.enum(["none", "token"]).optional(),
  vendor_viva: z.strictObject({ audio_filter: AudioFilter.optional() }).optional(),
  scaling: z
    .strictObject({ min_agents: agentCount(0).optional(), max_agents: agentCount(1).optional() })
    .optional(),
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

function merged(base: object, over: object): object {
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
