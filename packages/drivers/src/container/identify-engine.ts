import type { EngineVersion } from "./engine-answers.ts";
import type { EngineClient } from "./engine-client.ts";

export interface EngineIdentity {
  name: "docker" | "podman";
  version: string;
}

/** From a header of the shortest answer there is: to tell its version, Podman has a package manager look up two programs. */
export async function identifyEngine(client: EngineClient, signal: AbortSignal): Promise<EngineIdentity> {
  const answer = await client.stream({ path: "/_ping", signal });
  answer.resume();
  const [, product, version = ""] = /^(Libpod|Docker)\/(\S+)/i.exec(String(answer.headers.server)) ?? [];
  if (product !== undefined) return { name: /docker/i.test(product) ? "docker" : "podman", version };
  // Something between us and the engine keeps its headers.
  const { Version, Components } = await client.ask<EngineVersion>({ path: "/version", signal });
  const isPodman = Components?.some(({ Name }) => /podman/i.test(Name)) ?? false;
  return { name: isPodman ? "podman" : "docker", version: Version };
}
