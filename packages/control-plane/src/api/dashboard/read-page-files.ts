import { globSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";

/** One file of the page with its headers. */
export interface PageFile {
  type: string;
  body: Buffer;
  /**
   * Compressed on the first request, because most services start without a visitor. Undefined if compression gains
   * nothing.
   */
  readonly packed: Buffer | undefined;
  /** The name contains a hash of the content, so the file never changes. */
  isImmutable: boolean;
}

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".md": "text/markdown; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".wasm": "application/wasm",
};
const PACKING_GAINS_BYTES = 1_000;

/** Reads all files of a built page into memory, by address. No requested path reaches the file system. */
export function readPageFiles(folder: string): Map<string, PageFile> {
  const names = globSync("**/*", { cwd: folder }).filter((name) => statSync(join(folder, name)).isFile());
  return new Map(
    names.map((name) => {
      const body = readFileSync(join(folder, name));
      let packed: { smaller: Buffer | undefined } | undefined;
      const file: PageFile = {
        type: TYPES[extname(name)] ?? "application/octet-stream",
        body,
        get packed() {
          packed ??= { smaller: pack(body) };
          return packed.smaller;
        },
        isImmutable: name.startsWith("assets/"),
      };
      return [`/${name.replaceAll("\\", "/")}`, file];
    }),
  );
}

function pack(body: Buffer): Buffer | undefined {
  const packed = gzipSync(body);
  return packed.length + PACKING_GAINS_BYTES < body.length ? packed : undefined;
}
