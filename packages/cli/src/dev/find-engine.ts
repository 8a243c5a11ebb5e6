import { createRequire } from "node:module";

/** The voice filter's engine, which the service installed alongside this command brings. */
export function findEngine(): string | undefined {
  try {
    const service = createRequire(import.meta.url).resolve("@vocalhost/control-plane/package.json");
    return createRequire(service).resolve("@vocalhost/viva");
  } catch {
    return undefined;
  }
}
