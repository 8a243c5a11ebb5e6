import { EngineAddressError, engineSockets, loadIntoEngine } from "@vocalhost/images";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { childEnvironment } from "../config.ts";
import type { CommandContext } from "../define-command.ts";
import { Problem, usageProblem } from "../problem.ts";
import type { LoadOptions } from "./image-options.ts";
import { withImageProblems } from "./image-problem.ts";
import { openKeptImages, platformOf, requireKept } from "./kept-images.ts";

/** `vocalhost image load` */
export async function run(options: LoadOptions, context: CommandContext): Promise<number> {
  const { name } = options;
  const images = await openKeptImages(options.images);
  const image = await requireKept(images, name, platformOf(options.platform));
  const socket = options.socket ?? findSocket();
  if (socket === undefined)
    throw new Problem("engine_not_found", "Neither Docker nor Podman listens on this machine", {
      why: "No variable names an engine, and there is no socket at the usual places.",
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

/** The one that was named, or the first that is there. */
function findSocket(): string | undefined {
  try {
    const sockets = engineSockets(childEnvironment(), homedir());
    return (sockets.length === 1 ? sockets[0] : sockets.find(({ path }) => existsSync(path)))?.path;
  } catch (error) {
    if (error instanceof EngineAddressError) throw usageProblem(error.message);
    throw error;
  }
}
