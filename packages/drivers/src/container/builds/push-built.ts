import { resolveImage, type Platform } from "@vocalhost/images";
import { SourceError, type PullSecret } from "../../driver.ts";
import type { Engine } from "../engine.ts";
import { toEngineError } from "../engine-error.ts";
import { readEvents } from "../read-events.ts";

/** Where images that were built are pushed to. */
export interface BuildRegistry {
  /** `registry.example.com/team/bots`; builds are its tags. */
  repository: string;
  secret: PullSecret | undefined;
}

interface PushEvent {
  error?: string;
  errorDetail?: { message?: string };
}

/** Pushes an image of the engine; gives what means it for ever in the registry. */
export async function pushBuilt(
  {
    engine,
    platform,
    mayReach,
  }: { engine: Engine; platform: Platform; mayReach(url: URL, address?: string): boolean },
  { repository, secret }: BuildRegistry,
  { name, tag, signal }: { name: string; tag: string; signal: AbortSignal },
): Promise<string> {
  const reference = `${repository}:${tag}`;
  try {
    const credentials = secret && { username: secret.username, password: secret.token };
    const post = { method: "POST", signal } as const;
    await engine.client.tell({ ...post, path: `/images/${name}/tag`, query: { repo: repository, tag } });
    const stream = await engine.client.stream({ ...post, path: `/images/${reference}/push`, credentials });
    for await (const event of readEvents<PushEvent>(stream)) {
      const problem = event.errorDetail?.message ?? event.error;
      if (problem !== undefined) throw new Error(problem);
    }
    return (await resolveImage(reference, { platform, credentials, mayReach, signal })).pinned;
  } catch (error) {
    signal.throwIfAborted();
    const known = toEngineError(error, { call: "push an image", socket: engine.socket });
    throw new SourceError(
      "UNKNOWN_ERROR",
      `The image could not be pushed to ${repository}: ${known.message}`,
      {
        cause: error,
      },
    );
  } finally {
    await engine.removeImage(reference).catch(() => undefined); // the name; the image has another
  }
}
