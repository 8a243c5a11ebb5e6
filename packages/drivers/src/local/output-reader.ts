import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { OutputChunk } from "../instance-records.ts";
import { OUTPUT_FILE, readOutput, type OutputLimits } from "./output-file.ts";

/** Reads the output of many instances, several times a second each. */
export interface OutputReader {
  read(id: string, folder: string, position: number): Promise<OutputChunk>;
  forget(id: string): void;
}

/** For an instance that has printed nothing since the last read, it only asks for the size of the file. */
export function createOutputReader(options: {
  isRunning(id: string): Promise<boolean>;
  limits?: Partial<OutputLimits>;
}): OutputReader {
  const silent = new Map<string, { position: number; sizeBytes: number }>();
  return {
    async read(id, folder, position) {
      const sizeBytes = lstatSync(join(folder, OUTPUT_FILE), { throwIfNoEntry: false })?.size ?? 0;
      const known = silent.get(id);
      if (known?.position === position && known.sizeBytes === sizeBytes)
        return { lines: [], nextPosition: position };
      const isRunning = await options.isRunning(id);
      const { chunk, restBytes } = await readOutput(folder, { ...options, position, isRunning });
      // Measured before it was read, so what was printed meanwhile shows as another size.
      if (restBytes === 0 && chunk.lines.length === 0) silent.set(id, { position, sizeBytes });
      else silent.delete(id);
      return chunk;
    },
    forget: (id) => void silent.delete(id),
  };
}
