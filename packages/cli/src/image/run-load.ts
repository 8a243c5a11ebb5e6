import { findEngineSockets, loadIntoEngine } from "@vocalhost/images";
import { childEnvironment } from "../config.ts";
import type { CommandContext } from "../define-command.ts";
import { Problem } from "../problem.ts";
import type { LoadOptions } from "./image-options.ts";
import { withImageProblems } from "./image-problem.ts";
import { openKeptImages, platformOf, requireKept } from "./kept-images.ts";

/** `vocalhost image load` */
export async function run(options: LoadOptions, context: CommandContext): Promise<number> {
  const { name } = options;
  const images = await openKeptImages(options.images);
  const image = await requireKept(images, name, platformOf(options.platform));
  const socket = options.socket ?? findEngineSockets(childEnvironment())[0];
  if (socket === undefined)
    throw new Problem("engine_not_found", "Neither Docker nor Podman listens on this machine", {
      why: "There is no DOCKER_HOST, and no socket at the usual places.",
      fixes: [
        "Podman: systemctl enable --now podman.socket, or podman system service --time 0 unix:///run/podman/podman.sock",
        "Name the engine's socket with --socket.",
        "Or write an archive: vocalhost image build --output bot.tar, then docker load -i bot.tar.",
      ],
    });
  await withImageProblems(() =>
    context.ui.task(`Loading ${name}`, (update) =>
      loadIntoEngine({ socket, image, name, onProgress: update, signal: context.signal }),
    ),
  );
  if (context.isJson) context.ui.print(JSON.stringify({ ok: true, name, digest: image.digest, socket }));
  else context.ui.print(`${name}  loaded into the engine at ${socket}`);
  return 0;
}
