import { resolveImage, type Platform } from "@vocalhost/images";
import type Docker from "dockerode";
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
  { engine, platform, mayReach }: { engine: Engine; platform: Platform; mayReach(url: URL): boolean },
  { repository, secret }: BuildRegistry,
  { name, tag, signal }: { name: string; tag: string; signal: AbortSignal },
): Promise<string> {
  const reference = `${repository}:${tag}`;
  try {
    await engine.docker.getImage(name).tag({ repo: repository, tag, abortSignal: signal });
    const stream = await engine.docker.getImage(reference).push({
      abortSignal: signal,
      ...(secret ? { authconfig: { username: secret.username, password: secret.token } } : {}),
    } as Docker.ImagePushOptions);
    for await (const event of readEvents<PushEvent>(stream)) {
      const problem = event.errorDetail?.message ?? event.error;
      if (problem !== undefined) throw new Error(problem);
    }
    const credentials = secret && { username: secret.username, password: secret.token };
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
