import { randomBytes } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { Problem } from "../problem.ts";

/** Credentials that signing in stores on this machine. */
export const StoredCredentials = z.object({
  apiUrl: z.url({ protocol: /^https?$/ }),
  /** The bearer token of requests: a private key, or a token from signing in. */
  token: z.string().min(1),
  organization: z.string().optional(),
  /** The public key `agent start` uses. */
  publicKey: z.string().optional(),
});
export type StoredCredentials = z.infer<typeof StoredCredentials>;

/** The file only its owner can read. */
export interface CredentialsFile {
  readonly path: string;
  /** Undefined without a sign-in. `remark` is set if other users could read the file until now. */
  read(): Promise<{ credentials: StoredCredentials; remark?: string } | undefined>;
  /** Replaces the file atomically. */
  write(credentials: StoredCredentials): Promise<void>;
  /** Tells whether there was one. */
  remove(): Promise<boolean>;
}

const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const FILE_MAX_BYTES = 64 * 1024;

export function credentialsFile(configFolder: string): CredentialsFile {
  const path = join(configFolder, "vocalhost", "credentials.json");
  return {
    path,
    async read() {
      const facts = await stat(path).catch(absent);
      if (!facts) return undefined;
      const remark = await closeToOthers(path, facts.mode);
      if (facts.size > FILE_MAX_BYTES) throw unreadable(path, "The file is far too large.");
      const credentials = parse(path, await readFile(path, "utf8"));
      return { credentials, ...(remark ? { remark } : {}) };
    },
    async write(credentials) {
      const folder = dirname(path);
      const temporary = join(folder, `.credentials-${randomBytes(6).toString("hex")}`);
      try {
        await mkdir(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
        await writeDurably(temporary, `${JSON.stringify(credentials, null, 2)}\n`);
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        throw new Problem("credentials_unwritable", `Cannot write ${path}`, {
          why: (error as Error).message,
          fixes: ["Use VOCALHOST_API_KEY and VOCALHOST_API_URL instead."],
          cause: error,
        });
      }
    },
    async remove() {
      const wasThere = (await stat(path).catch(absent)) !== undefined;
      await rm(path, { force: true });
      return wasThere;
    },
  };
}

async function writeDurably(path: string, text: string): Promise<void> {
  await using file = await open(path, "wx", OWNER_ONLY);
  await file.writeFile(text);
  await file.sync();
}

async function closeToOthers(path: string, mode: number): Promise<string | undefined> {
  if (process.platform === "win32" || (mode & 0o077) === 0) return undefined;
  try {
    await chmod(path, OWNER_ONLY);
  } catch (error) {
    throw new Problem("credentials_exposed", `Others on this machine can read ${path}`, {
      why: (error as Error).message,
      fixes: [`Close it: chmod 600 ${path}`, "Then create new keys: these may have been read."],
      cause: error,
    });
  }
  return `Others on this machine could read ${path}; now only you can.`;
}

function parse(path: string, text: string): StoredCredentials {
  try {
    return StoredCredentials.parse(JSON.parse(text));
  } catch (error) {
    throw unreadable(path, "The file is not what vocalhost auth login writes.", error);
  }
}

function unreadable(path: string, why: string, cause?: unknown): Problem {
  return new Problem("credentials_invalid", `Cannot use ${path}`, {
    why,
    fixes: ["Sign in again: vocalhost auth login"],
    cause,
  });
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
  throw error;
}
