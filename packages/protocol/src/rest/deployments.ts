import { z } from "zod";
import { toldSettings } from "./setting-values.ts";
import { Time } from "./values.ts";

export const Manifest = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  spec: z.object({
    nodeType: z.literal("arm"),
    /** The same, as other tools spell it. */
    dailyNodeType: z.literal("arm").optional(),
    /** Empty when deployed from a build, which `buildId` names. */
    image: z.string(),
    /** The digest behind the image's tag when it was deployed. Absent until that is known. */
    imageDigest: z.string().optional(),
    buildId: z.uuid().optional(),
    autoScaling: z.object({ minReplicas: z.number().int(), maxReplicas: z.number().int() }),
    imagePullSecretName: z.string().optional(),
    envFromSecretNames: z.array(z.string()).optional(),
    resources: z.object({ cpu: z.string(), memory: z.string() }),
    vendorViva: z.object({ audioFilters: z.boolean() }).optional(),
    /** Absent when it is the default. */
    maxSessionDurationSeconds: z.number().int().optional(),
  }),
});
export type Manifest = z.infer<typeof Manifest>;

export const Deployment = z.object({
  id: z.uuid(),
  serviceId: z.uuid(),
  createdAt: Time,
  updatedAt: Time,
  /** The build it runs, if it is not an image. */
  buildId: z.uuid().nullish(),
  manifest: Manifest,
});
export type Deployment = z.infer<typeof Deployment>;

/** The settings of a deployment. Scaling belongs to the agent and is not among them. */
export const DeploymentSettings = z.object({
  image: z.string(),
  /** Null until it is known, and for builds. */
  imageDigest: z.string().nullable().default(null),
  buildId: z.uuid().nullable(),
  secretVersion: z.number().int().nullable(),
  ...toldSettings,
  agentProfile: z.string(), // profiles may come and go while old deployments are told of
});
export type DeploymentSettings = z.infer<typeof DeploymentSettings>;

export const DeploymentListItem = z.object({
  id: z.uuid(),
  buildId: z.uuid().nullish(),
  manifest: Manifest,
  createdAt: Time,
  updatedAt: Time,
  phase: z.enum(["Creating", "Validating", "Active", "Draining", "Retired", "Failed", "Superseded"]),
  settings: DeploymentSettings,
  /** Why it failed. */
  failure: z.object({ code: z.string(), message: z.string() }).nullable(),
});
export type DeploymentListItem = z.infer<typeof DeploymentListItem>;

/** Newest first. */
export const DeploymentList = z.object({ deployments: z.array(DeploymentListItem) });
export type DeploymentList = z.infer<typeof DeploymentList>;

export const Rollback = z.object({ deploymentId: z.uuid() });
export type Rollback = z.infer<typeof Rollback>;
