import { AliveRecord, ExitRecord } from "@vocalhost/protocol";
import { readdir } from "node:fs/promises";
import type { InstanceRecords } from "../instance-records.ts";
import { isId, requireId } from "../local/instance-folder.ts";
import { dropOutput } from "../local/output-file.ts";
import { createOutputReader } from "../local/output-reader.ts";
import { emptySlots, readSharedFile, sharedFolderOf } from "./shared-files.ts";

const OUTPUT_LIMITS = { fileBytes: 16 * 1024 * 1024 }; // emptied unread at twice that, half of what a file may have

/** Records in the files of an instance, written by the instance itself. */
export function openRecordFiles(options: {
  root: string;
  isRunning(id: string): Promise<boolean>;
}): InstanceRecords {
  const { root } = options;
  const output = createOutputReader({ ...options, limits: OUTPUT_LIMITS });
  return {
    async exitRecord(id, sessionId) {
      const record = await readSharedFile(ExitRecord, sharedFolderOf(root, requireId(id)), "exit");
      return record?.sessionId === sessionId ? record : undefined;
    },
    aliveRecord: (id) => readSharedFile(AliveRecord, sharedFolderOf(root, requireId(id)), "alive"),
    output: async (id, position) => output.read(id, sharedFolderOf(root, requireId(id)), position),
    async makeSpace() {
      const ids = (await readdir(root).catch(() => [])).filter(isId);
      const freed = await Promise.allSettled(ids.map((id) => dropOutput(sharedFolderOf(root, id))));
      return freed.reduce((sum, each) => sum + (each.status === "fulfilled" ? each.value : 0), 0);
    },
    remove(id) {
      output.forget(id);
      return emptySlots(sharedFolderOf(root, requireId(id)));
    },
  };
}
