import { z } from "zod";
import { isDigest, type Digest } from "./digest.ts";

// The parts of the OCI image specification that this package writes and reads. Other fields are ignored.

const DigestText = z.custom<Digest>((value) => typeof value === "string" && isDigest(value), "not a digest");

export const mediaTypes = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
  dockerIndex: "application/vnd.docker.distribution.manifest.list.v2+json",
  dockerManifest: "application/vnd.docker.distribution.manifest.v2+json",
} as const;

export const Descriptor = z.object({
  mediaType: z.string(),
  digest: DigestText,
  size: z.int().nonnegative(),
  platform: z.object({ os: z.string(), architecture: z.string() }).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});
export type Descriptor = z.infer<typeof Descriptor>;

export const ImageIndex = z.object({ schemaVersion: z.literal(2), manifests: z.array(Descriptor) });
export type ImageIndex = z.infer<typeof ImageIndex>;

export const ImageManifest = z.object({
  schemaVersion: z.literal(2),
  mediaType: z.string().optional(),
  config: Descriptor,
  layers: z.array(Descriptor),
});
export type ImageManifest = z.infer<typeof ImageManifest>;

/** Settings by which containers of an image start. */
export const ImageDefaults = z.object({
  User: z.string().optional(),
  Env: z.array(z.string()).nullish(),
  Entrypoint: z.array(z.string()).nullish(),
  Cmd: z.array(z.string()).nullish(),
  WorkingDir: z.string().optional(),
  Labels: z.record(z.string(), z.string()).nullish(),
  StopSignal: z.string().optional(),
  Volumes: z.record(z.string(), z.unknown()).nullish(),
});
export type ImageDefaults = z.infer<typeof ImageDefaults>;

export const ImageConfig = z.object({
  architecture: z.string(),
  os: z.string(),
  created: z.string().optional(),
  config: ImageDefaults.optional(),
  rootfs: z.object({ type: z.string(), diff_ids: z.array(DigestText) }),
  history: z
    .array(z.object({ created: z.string().optional(), created_by: z.string().optional() }))
    .optional(),
});
export type ImageConfig = z.infer<typeof ImageConfig>;
