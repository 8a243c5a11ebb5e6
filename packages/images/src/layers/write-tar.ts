import { open, type FileHandle } from "node:fs/promises";
import { createTarPacker } from "modern-tar";
import { inOrder, type LayerEntry } from "./layer-entry.ts";

export const EPOCH = new Date(0);

/** A tar archive whose bytes depend on names, contents, modes and owners only. */
export function writeTar(
  entries: readonly LayerEntry[],
  signal?: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { readable, controller } = createTarPacker();
  const write = async (): Promise<void> => {
    for (const entry of inOrder(entries)) {
      signal?.throwIfAborted();
      await add(controller, entry);
    }
    controller.finalize();
  };
  write().catch((error: unknown) => controller.error(error));
  return readable;
}

type Controller = ReturnType<typeof createTarPacker>["controller"];

async function add(controller: Controller, entry: LayerEntry): Promise<void> {
  const { path, mode, uid, gid } = entry;
  const place = { mode, uid, gid, mtime: EPOCH };
  switch (entry.kind) {
    case "directory":
      return controller.add({ ...place, name: `${path}/`, type: "directory", size: 0 }).close();
    case "symlink":
      return controller
        .add({ ...place, name: path, type: "symlink", size: 0, linkname: entry.target })
        .close();
    case "file": {
      if (typeof entry.source !== "string") {
        const writer = controller
          .add({ ...place, name: path, type: "file", size: entry.source.length })
          .getWriter();
        if (entry.source.length > 0) await writer.write(entry.source);
        return writer.close();
      }
      await using file = await open(entry.source);
      const { size } = await file.stat();
      return await copy(file, controller.add({ ...place, name: path, type: "file", size }));
    }
    default:
      return entry satisfies never;
  }
}

const CHUNK_BYTES = 1024 * 1024;

async function copy(file: FileHandle, to: WritableStream<Uint8Array>): Promise<void> {
  const writer = to.getWriter();
  for (;;) {
    // A buffer of its own for each chunk: the packer passes it on without copying.
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafeSlow(CHUNK_BYTES) });
    if (bytesRead === 0) break;
    await writer.write(buffer.subarray(0, bytesRead));
  }
  await writer.close();
}
