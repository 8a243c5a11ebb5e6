import {
  instanceFiles,
  instanceSlots,
  SLOT_BYTES,
  type AliveRecord,
  type ExitRecord,
} from "@vocalhost/protocol";
import { open, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What an instance leaves in its folder; a reader sees the whole of a file or none of it. */
export interface Records {
  address(address: string): Promise<void>;
  alive(record: AliveRecord): Promise<void>;
  /** On the disk, name included, when this resolves. */
  exit(record: ExitRecord): Promise<void>;
}

export function createRecords({ folder, hasSlots }: { folder: string; hasSlots: boolean }): Records {
  return hasSlots ? createSlots(folder) : createFiles(folder);
}

function createFiles(folder: string): Records {
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

// One write of one length: whoever reads meanwhile finds the old record or the new one, and none is ever half gone.
function createSlots(folder: string): Records {
  async function put(name: string, text: string, { durably = false } = {}): Promise<void> {
    const bytes = Buffer.from(text);
    if (bytes.length > SLOT_BYTES)
      throw new RangeError(`${name} has ${bytes.length} bytes, which is too long`);
    await using file = await open(join(folder, name), "r+");
    await file.write(Buffer.concat([bytes, Buffer.alloc(SLOT_BYTES - bytes.length, " ")]), { position: 0 });
    if (durably) await file.sync();
  }

  return {
    address: (address) => put(instanceSlots.address, address),
    alive: (record) => put(instanceSlots.alive, JSON.stringify(record)),
    exit: (record) => put(instanceSlots.exit, JSON.stringify(record), { durably: true }),
  };
}
