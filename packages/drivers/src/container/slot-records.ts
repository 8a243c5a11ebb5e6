import { AliveRecord, ExitRecord } from "@vocalhost/protocol";
import { readdir } from "node:fs/promises";
import type { InstanceRecords } from "../instance-records.ts";
import { isId, requireId } from "../local/instance-folder.ts";
import { dropOutput } from "../local/output-file.ts";
import { createOutputReader } from "../local/output-reader.ts";
import { emptySlots, readSlot, slotsOf } from "./slots.ts";

const OUTPUT_LIMITS = { fileBytes: 16 * 1024 * 1024 }; // emptied unread at twice that, half of what a file may have

/** Records in the slots of an instance, written by the instance itself. */
export function openSlotRecords(options: {
  root: string;
  isRunning(id: string): Promise<boolean>;
}): InstanceRecords {
  const { root } = options;
  const output = createOutputReader({ ...options, limits: OUTPUT_LIMITS });
  return {
    async exitRecord(id, sessionId) {
      const record = await readSlot(ExitRecord, slotsOf(root, requireId(id)), "exit");
      return record?.sessionId === sessionId ? record : undefined;
    },
    aliveRecord: (id) => readSlot(AliveRecord, slotsOf(root, requireId(id)), "alive"),
    output: async (id, position) => output.read(id, slotsOf(root, requireId(id)), position),
    async makeSpace() {
      const ids = (await readdir(root).catch(() => [])).filter(isId);
      const freed = await Promise.allSettled(ids.map((id) => dropOutput(slotsOf(root, id))));
      return freed.reduce((sum, each) => sum + (each.status === "fulfilled" ? each.value : 0), 0);
    },
    remove(id) {
      output.forget(id);
      return emptySlots(slotsOf(root, requireId(id)));
    },
  };
}
