// Compiles assembly/ to wasm/viva.wasm: node packages/viva/build-kernel.ts
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** No runtime, no checks, vectors on: the kernel only takes memory and calculates. */
const OPTIONS = [
  "--runtime",
  "stub",
  "--enable",
  "simd",
  "--enable",
  "relaxed-simd",
  "--enable",
  "bulk-memory",
  "-O3",
  "--noAssert",
];

/** The same sources and compiler give the same bytes. */
export function compileKernel(): Buffer {
  const compiler = fileURLToPath(
    new URL("../../scripts/kernel-compiler/node_modules/assemblyscript/bin/asc.js", import.meta.url),
  );
  const folder = mkdtempSync(join(tmpdir(), "viva-kernel-"));
  try {
    const out = join(folder, "viva.wasm");
    const { status, stderr } = spawnSync(
      process.execPath,
      [compiler, "assembly/index.ts", "--outFile", out, "--use", "abort=", ...OPTIONS],
      { cwd: import.meta.dirname, encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`The kernel does not compile:\n${stderr}`);
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) writeFileSync(new URL("wasm/viva.wasm", import.meta.url), compileKernel());
