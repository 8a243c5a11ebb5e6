/** Version of the official base image, `vocalhost/base:<version>`. */
export const BASE_VERSION = "0.2.0";

/** Labels of the base image. Images that are built on it inherit them. */
export const imageLabels = {
  /** Version of the product whose packages are in the image. */
  productVersion: "io.github.vocalhost.version",
  baseVersion: "io.github.vocalhost.base.version",
  /** Version of the voice filter's engine; an image without the label has none. */
  filterVersion: "io.github.vocalhost.filter.version",
  title: "org.opencontainers.image.title",
  description: "org.opencontainers.image.description",
  version: "org.opencontainers.image.version",
  licenses: "org.opencontainers.image.licenses",
  source: "org.opencontainers.image.source",
  baseName: "org.opencontainers.image.base.name",
  baseDigest: "org.opencontainers.image.base.digest",
} as const;

/** The facts that an image's labels tell about its base. */
export interface BaseFacts {
  productVersion: string | undefined;
  baseVersion: string;
  filterVersion: string | undefined;
}

/** Undefined for images that were not built on the base. */
export function readBaseFacts(labels: Readonly<Record<string, string>>): BaseFacts | undefined {
  const baseVersion = labels[imageLabels.baseVersion];
  if (!baseVersion) return undefined;
  return {
    baseVersion,
    productVersion: labels[imageLabels.productVersion] || undefined,
    filterVersion: labels[imageLabels.filterVersion] || undefined,
  };
}
