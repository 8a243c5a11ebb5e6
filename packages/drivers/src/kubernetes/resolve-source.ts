import { ImageError, parseImageReference } from "@vocalhost/images";
import type { PreparedSource, PrepareOptions } from "../driver.ts";
import { asSourceError, askRegistry, type ImageSource, type RegistryContext } from "../source-image.ts";

/** Finds out what a reference means now. Nodes pull it when they first need it. */
export async function resolveSource(
  source: ImageSource,
  context: RegistryContext,
  { progressed, signal }: PrepareOptions,
): Promise<PreparedSource> {
  try {
    const reference = parseImageReference(source.reference);
    progressed("Asking the registry for the image");
    const { pinned, labels } = await askRegistry(source, reference, { ...context, signal });
    return { reference: pinned, labels };
  } catch (error) {
    throw error instanceof ImageError ? asSourceError(error) : error;
  }
}
