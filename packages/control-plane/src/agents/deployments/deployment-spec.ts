import { agentSettings, storedSettings } from "@vocalhost/protocol";
import { z } from "zod";

/** The specification of a deployment, fixed at its creation; stored as JSON in `deployments.spec`. */
export const DeploymentSpec = z.object({
  /** The reference the caller gave, or the image-shaped name of the build. */
  image: z.string(),
  buildId: z.uuid().nullable(),
  nodeType: z.literal("arm"),
  /** Version of the secret set that was current when the deployment was made. */
  secretVersion: z.number().int().nullable(),
  /** The digest the image's reference resolved to at creation; null before it is resolved, and for builds. */
  pinned: z
    .object({
      reference: z.string(),
      /** Version of the base the bot was built on; null without a base. */
      baseVersion: z.string().nullable(),
      filterVersion: z.string().nullable(),
    })
    .nullable()
    .default(null),
  ...storedSettings,
});
export type DeploymentSpec = z.infer<typeof DeploymentSpec>;

const READ_MAX = 200; // deployments in use, which every start and every pass read again
const read = new Map<string, Readonly<DeploymentSpec>>();

/** Parses the text of `deployments.spec`. */
export function parseSpec(text: string): Readonly<DeploymentSpec> {
  const known = read.get(text);
  if (known) return known;
  const spec = Object.freeze(DeploymentSpec.parse(JSON.parse(text)));
  Object.freeze(spec.pinned);
  if (read.size >= READ_MAX) read.clear();
  read.set(text, spec);
  return spec;
}

export const agentProfiles = {
  "agent-1x": { cpuMillicores: 500, memoryMib: 1024, manifest: { cpu: "500m", memory: "1Gi" } },
  "agent-2x": { cpuMillicores: 1000, memoryMib: 2048, manifest: { cpu: "1000m", memory: "2Gi" } },
  "agent-3x": { cpuMillicores: 1500, memoryMib: 3072, manifest: { cpu: "1500m", memory: "3Gi" } },
} as const;

export const DEFAULT_MAX_SESSION_DURATION_S = agentSettings.maxSessionDurationS.default;
