/** One file of an archive. */
export interface ArchiveFile {
  /** Relative, with forward slashes. */
  name: string;
  isProgram: boolean;
  bytes: Uint8Array;
}

const BLOCK_BYTES = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

/** An archive whose bytes depend on names and contents only: no times, no owners. */
export function createTar(files: readonly ArchiveFile[]): Uint8Array {
  const parts = files.flatMap((file) => [...longName(file.name), ...entry(file, "0")]);
  return Buffer.concat([...parts, new Uint8Array(2 * BLOCK_BYTES)]);
}

/** Names that the header has no space for go into an entry before it. */
function longName(name: string): Uint8Array[] {
  if (splitName(name)) return [];
  const bytes = Buffer.from(paxRecord("path", name));
  return entry({ name: "PaxHeader", isProgram: false, bytes }, "x");
}

function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  // The length counts its own digits.
  let length = bytes + 1;
  while (length !== bytes + String(length).length) length += 1;
  return `${length}${rest}`;
}

function entry(file: ArchiveFile, type: "0" | "x"): Uint8Array[] {
  const padding = (BLOCK_BYTES - (file.bytes.length % BLOCK_BYTES)) % BLOCK_BYTES;
  return [header(file, type), file.bytes, new Uint8Array(padding)];
}

function header({ name, isProgram, bytes }: ArchiveFile, type: "0" | "x"): Uint8Array {
  const block = Buffer.alloc(BLOCK_BYTES);
  const fitting = splitName(name) ?? { name: "long-name", prefix: "" };
  block.write(fitting.name, 0);
  block.write(`${octal(isProgram ? 0o755 : 0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100);
  block.write(`${octal(bytes.length, 11)}\0${octal(0, 11)}\0`, 124);
  block.write(" ".repeat(8), 148); // the sum is made with blanks in its own place
  block.write(type, 156);
  block.write("ustar\u000000", 257);
  block.write(fitting.prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148);
  return block;
}

/** As one name, or a prefix and a name, that fit into a header. */
function splitName(path: string): { name: string; prefix: string } | undefined {
  if (/[^ -~]/.test(path)) return undefined;
  if (path.length <= NAME_BYTES) return { name: path, prefix: "" };
  const cut = path.lastIndexOf("/", PREFIX_BYTES);
  if (cut <= 0 || path.length - cut - 1 > NAME_BYTES) return undefined;
  return { name: path.slice(cut + 1), prefix: path.slice(0, cut) };
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}
