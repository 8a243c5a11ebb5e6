import type { Manifest } from "@vocalhost/protocol";

/** Where the bot comes from: an image, or a build of this service. */
export function toSource({ spec }: Manifest): string {
  return spec.buildId === undefined ? spec.image : `Build ${spec.buildId.slice(0, 8)}`;
}
