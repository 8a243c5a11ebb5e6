import { AliveRecord, ExitRecord, instanceFiles } from "@vocalhost/protocol";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { InstanceRecords } from "../instance-records.ts";
import { removeTree } from "@vocalhost/base/remove-tree";
import { readJson, requireId } from "../local/instance-folder.ts";
import { folderFiles } from "./instance-folder.ts";
import { dropOutput } from "../local/output-file.ts";
import { createOutputReader } from "../local/output-reader.ts";

/** Files the driver needs for itself as long as the object exists. */
const OF_THE_DRIVER: readonly string[] = [...Object.values(folderFiles), instanceFiles.address];

/** Records as files in the instance's folder, written by the instance itself. */
export function openFolderRecords(options: {
  root: string;
  isRunning(id: string): Promise<boolean>;
}): InstanceRecords {
  const { root } = options;
  const output = createOutputReader(options);
  return {
    exitRecord: (id, sessionId) =>
      readJson(ExitRecord, root, requireId(id), instanceFiles.exit(requireId(sessionId))),
    aliveRecord: (id) => readJson(AliveRecord, root, requireId(id), instanceFiles.alive),
    output: async (id, position) => output.read(id, join(root, requireId(id)), position),
    async makeSpace() {
      const ids = await readdir(root).catch(() => []);
      const freed = await Promise.allSettled(ids.map((id) => dropOutput(join(root, id))));
      return freed.reduce((sum, each) => sum + (each.status === "fulfilled" ? each.value : 0), 0);
    },
    async remove(id) {
      const folder = join(root, requireId(id));
      output.forget(id);
      const names = await readdir(folder).catch(() => []);
      const records = names.filter((name) => !OF_THE_DRIVER.includes(name));
      const removed = await Promise.allSettled(records.map((name) => removeTree(join(folder, name))));
      for (const each of removed) if (each.status === "rejected") throw each.reason;
    },
  };
}
