import { open, type FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { createTarPacker } from "modern-tar";
import { inOrder, type LayerEntry } from "./layer-entry.ts";

export const EPOCH = new Date(0);

/** A tar archive whose bytes depend on names, contents, modes and owners only. */
export function writeTar(entries: readonly LayerEntry[], signal?: AbortSignal): Readable {
  const { readable, controller } = createTarPacker();
  const write = async (): Promise<void> => {
    for (const entry of inOrder(entries)) {
      signal?.throwIfAborted();
      await add(controller, entry);
    }
    controller.finalize();
  };
  write().catch((error: unknown) => controller.error(error));
  return Readable.fromWeb(readable as NodeStream);
}

/** The same thing to Node; a browser's types say something else about it. */
type NodeStream = Parameters<typeof Readable.fromWeb>[0];

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
      return await copy(file, size, controller.add({ ...place, name: path, type: "file", size }));
    }
    default:
      return entry satisfies never;
  }
}

const CHUNK_BYTES = 1024 * 1024;

async function copy(file: FileHandle, size: number, to: WritableStream<Uint8Array>): Promise<void> {
  const writer = to.getWriter();
  for (let left = size; left > 0;) {
    // A buffer of its own for each chunk, as the packer passes it on without copying, and none larger than the rest of the
    // file: most files are small, and a mebibyte for each keeps the garbage collector busier than the packing.
    const { bytesRead, buffer } = await file.read({
      buffer: Buffer.allocUnsafeSlow(Math.min(left, CHUNK_BYTES)),
    });
    if (bytesRead === 0) break; // it became shorter meanwhile, which the packer refuses
    await writer.write(buffer.subarray(0, bytesRead));
    left -= bytesRead;
  }
  await writer.close();
}
