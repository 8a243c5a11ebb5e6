import { createRequire } from "node:module";
import type { Config } from "../config.ts";

/** Module of the voice filter's engine: the one that is configured, else the one installed with the service. */
export function findEngine({ vivaEngine }: Pick<Config, "vivaEngine">): string | undefined {
  if (vivaEngine !== undefined) return vivaEngine === "none" ? undefined : vivaEngine;
  try {
    return createRequire(import.meta.url).resolve("@vocalhost/viva");
  } catch {
    return undefined;
  }
}
