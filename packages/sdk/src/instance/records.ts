import {
  type AliveRecord,
  type ExitRecord,
  INSTANCE_FILE_BYTES,
  instanceFiles,
  sharedFileNames,
  TERMINATION_MESSAGE_BYTES,
  type TerminationMessage,
} from "@vocalhost/protocol";
import { open, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { InstanceConfig } from "./config.ts";
import { reportReady } from "./ready-report.ts";

/** Records that an instance leaves in its folder. Readers see a whole file or none. */
export interface Records {
  address(address: string): Promise<void>;
  alive(record: AliveRecord): Promise<void>;
  /** Resolves when the record, with its name, is on the disk. */
  exit(record: ExitRecord): Promise<void>;
}

export type RecordsConfig = Pick<
  InstanceConfig,
  "folder" | "hasSharedFiles" | "terminationMessageFile" | "readyEndpoint" | "instanceId" | "token"
>;

export function createRecords(config: RecordsConfig): Records {
  const { folder, hasSharedFiles, terminationMessageFile } = config;
  if (terminationMessageFile !== undefined) return createTerminationMessage(terminationMessageFile, config);
  return hasSharedFiles ? createSlots(folder) : createFiles(folder);
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

// Keeps the newest record only; no alive record follows an exit record.
function createTerminationMessage(path: string, config: RecordsConfig): Records {
  let isOver = false;

  const put = (word: TerminationMessage): Promise<void> =>
    overwrite(path, JSON.stringify(word), { bytes: TERMINATION_MESSAGE_BYTES, durably: true });

  return {
    async address(address) {
      void reportReady(config, address);
    },
    alive: async (record) => (isOver ? undefined : put({ alive: record })),
    exit(record) {
      isOver = true;
      return put({ exit: record });
    },
  };
}

function createSlots(folder: string): Records {
  const put = (name: string, text: string, { durably = false } = {}): Promise<void> =>
    overwrite(join(folder, name), text, { bytes: INSTANCE_FILE_BYTES, durably });

  return {
    address: (address) => put(sharedFileNames.address, address),
    alive: (record) => put(sharedFileNames.alive, JSON.stringify(record)),
    exit: (record) => put(sharedFileNames.exit, JSON.stringify(record), { durably: true }),
  };
}

// A single write of a fixed length: readers find the old record or the new one, never a mix.
async function overwrite(
  path: string,
  text: string,
  { bytes, durably }: { bytes: number; durably: boolean },
): Promise<void> {
  const written = Buffer.from(text);
  await using file = await open(path, "r+");
  await file.write(Buffer.concat([written, Buffer.alloc(bytes - written.length, " ")]), { position: 0 });
  if (durably) await file.sync();
}
