import type { EngineSocket } from "@vocalhost/images";
import { stat } from "node:fs/promises";
import { DriverUnavailableError } from "../driver.ts";

/** The first of these places where there is a socket. Whether an engine answers there is found when it is opened. */
export async function findEngine(sockets: readonly EngineSocket[]): Promise<string> {
  for (const { path } of sockets) {
    const found = await stat(path).catch(() => undefined);
    if (found?.isSocket()) return path;
  }
  const tried = sockets.map(({ path, because }) => `${path} (${because})`).join(", ");
  throw new DriverUnavailableError(
    `No container engine was found at ${tried}. Start Docker or Podman, or name its socket: ` +
      "VOCALHOST_CONTAINER_ENGINE=unix:///run/podman/podman.sock",
  );
}
