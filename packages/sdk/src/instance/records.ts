import { instanceFiles, type AliveRecord, type ExitRecord } from "@vocalhost/protocol";
import { open, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What an instance leaves in its folder; a reader sees the whole of a file or none of it. */
export interface Records {
  address(address: string): Promise<void>;
  alive(record: AliveRecord): Promise<void>;
  /** On the disk, name included, when this resolves. */
  exit(record: ExitRecord): Promise<void>;
}

export function createRecords(folder: string): Records {
  async function put(name: string, text: string): Promise<void> {
    const path = join(folder, name);
    await writeFile(`${path}.tmp`, text);
    await rename(`${path}.tmp`, path);
  }

  async function putDurably(name: string, text: string): Promise<void> {
    const path = join(folder, name);
    await using file = await open(`${path}.tmp`, "w");
    await file.writeFile(text);
    await file.sync();
    await rename(`${path}.tmp`, path);
    await using directory = await open(folder, "r");
    await directory.sync();
  }

  return {
    address: (address) => put(instanceFiles.address, address),
    alive: (record) => put(instanceFiles.alive, JSON.stringify(record)),
    exit: (record) => putDurably(instanceFiles.exit(record.sessionId), JSON.stringify(record)),
  };
}
