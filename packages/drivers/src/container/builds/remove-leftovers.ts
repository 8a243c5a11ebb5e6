import { request } from "node:http";
import type { Engine } from "../engine.ts";

interface ExternalContainer {
  Id: string;
  ImageID: string;
  State: string;
  /** When, as text or in seconds. */
  Created: string | number;
}

const LIMIT_MS = 30_000;

/** What Podman keeps of builds that were given up: containers that its Docker-compatible interface does not show. */
export async function removeLeftovers(
  engine: Engine,
  { label, before }: { label: { name: string; value: string }; before: number },
): Promise<void> {
  if (engine.name !== "podman") return;
  const text = await ask(engine.socket, "GET", "/v4.0.0/libpod/containers/json?all=true&external=true");
  for (const { Id, ImageID, State, Created } of (JSON.parse(text) ?? []) as ExternalContainer[]) {
    const createdAt = typeof Created === "number" ? Created * 1_000 : Date.parse(Created);
    if (State !== "storage" || !(createdAt < before)) continue;
    const image = await engine.inspectImage(ImageID);
    if (image?.labels[label.name] !== label.value) continue; // somebody else's
    await ask(engine.socket, "DELETE", `/v4.0.0/libpod/containers/${Id}?force=true`);
  }
}

function ask(socket: string, method: "GET" | "DELETE", path: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const call = request({ socketPath: socket, method, path, signal: AbortSignal.timeout(LIMIT_MS) });
  call.on("error", reject);
  call.on("response", (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => (text += part));
    response.on("error", reject);
    response.on("end", () =>
      (response.statusCode ?? 500) < 300
        ? resolve(text)
        : reject(new Error(`Podman answered ${text.slice(0, 300)}`)),
    );
  });
  call.end();
  return promise;
}
