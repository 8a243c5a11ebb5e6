import { DriverUnavailableError } from "@vocalhost/drivers/driver";
import { ImageBuildError, type ImageBuilder } from "@vocalhost/drivers/image-builder";
import type { BuildRow } from "@vocalhost/store/schema";
import type { BuildFacts } from "./build-facts.ts";
import type { BuildOutcome } from "./run-builder.ts";

export interface MakeImageOptions {
  row: BuildRow;
  folder: string;
  facts: BuildFacts;
  hasDockerfile: boolean;
  say(line: string): void;
  leftMs: number;
  signal: AbortSignal;
}

/** Returns a tag that identifies the build and its upload. */
export function tagOf({ id, contextHash }: Pick<BuildRow, "id" | "contextHash">): string {
  return `${contextHash}-${id.slice(0, 8)}`;
}

/** Makes an image of a folder that the builder has checked. */
export async function makeImage(images: ImageBuilder, options: MakeImageOptions): Promise<BuildOutcome> {
  const { row, folder, facts, hasDockerfile, say, signal } = options;
  const late = AbortSignal.timeout(Math.max(1, Math.round(options.leftMs)));
  try {
    const { reference, baseVersion, bytes } = await images.build({
      buildId: row.id,
      organizationId: row.organizationId,
      tag: tagOf(row),
      folder,
      dockerfilePath: hasDockerfile ? row.dockerfilePath : undefined,
      say,
      signal: AbortSignal.any([signal, late]),
    });
    const found = { ...facts, baseVersion: baseVersion ?? facts.baseVersion, image: { reference } };
    return { status: "success", facts: found, bytes, hasDockerfile };
  } catch (error) {
    if (late.aborted) return { status: "timeout" };
    if (error instanceof ImageBuildError) return { status: "failed", message: error.message };
    if (error instanceof DriverUnavailableError)
      return { status: "failed", message: `${error.message}. Try again later.` };
    if (signal.aborted) return { status: "failed", message: "The service is shutting down" }; // not shown
    return { status: "failed", message: `The builder failed: ${String(error)}` };
  }
}
