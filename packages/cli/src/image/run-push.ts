import { parseImageReference, pushImage, readAuthFile, type RegistryCredentials } from "@vocalhost/images";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { readImageVariables } from "../config.ts";
import type { CommandContext } from "../define-command.ts";
import { shownBytes } from "../moments.ts";
import { usageProblem } from "../problem.ts";
import type { PushOptions } from "./image-options.ts";
import { withImageProblems } from "./image-problem.ts";
import { openKeptImages, platformOf, requireKept } from "./kept-images.ts";

/** `vocalhost image push` */
export async function run(options: PushOptions, context: CommandContext): Promise<number> {
  const { name } = options;
  const images = await openKeptImages(options.images);
  const pushed = await withImageProblems(async () => {
    const { registry } = parseImageReference(name);
    const image = await requireKept(images, name, platformOf(options.platform));
    const credentials = await findCredentials(registry, options.authFile);
    return context.ui.task(`Pushing ${name}`, (update) =>
      pushImage(image, name, {
        credentials,
        plainRegistries: options.plain ? [registry] : [],
        onProgress: ({ sentBytes, totalBytes }) => update(sentBytes / totalBytes),
        signal: context.signal,
      }),
    );
  });
  if (context.isJson) context.ui.print(JSON.stringify({ ok: true, name, ...pushed }));
  else {
    context.ui.print(pushed.pinned);
    context.ui.note(
      pushed.uploadedBytes === 0
        ? "The registry had all of it."
        : `Sent ${shownBytes(pushed.uploadedBytes)}.`,
    );
  }
  return 0;
}

async function findCredentials(
  registry: string,
  named: string | undefined,
): Promise<RegistryCredentials | undefined> {
  const { registryUser, authFiles } = readImageVariables();
  if (named === undefined && registryUser) return registryUser;
  if (named !== undefined && !existsSync(named)) throw usageProblem(`There is no file ${named}`);
  for (const file of named === undefined ? authFiles : [named]) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) continue;
    try {
      const found = readAuthFile(text, registry);
      if (found) return found;
    } catch {
      throw usageProblem(`${file} is not a file that docker login or podman login wrote`);
    }
  }
  return undefined;
}
