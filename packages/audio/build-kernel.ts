// Compiles assembly/resample.ts to src/kernel-bytes.ts: node packages/audio/build-kernel.ts
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const OPTIONS = ["--runtime", "stub", "--enable", "simd", "-O3", "--noAssert", "--initialMemory", "2"];

/** In base64. The same source and compiler give the same bytes. */
export function compileKernel(): string {
  const compiler = fileURLToPath(
    new URL("../../scripts/kernel-compiler/node_modules/assemblyscript/bin/asc.js", import.meta.url),
  );
  const folder = mkdtempSync(join(tmpdir(), "resample-kernel-"));
  try {
    const out = join(folder, "resample.wasm");
    const { status, stderr } = spawnSync(
      process.execPath,
      [compiler, "assembly/resample.ts", "--outFile", out, "--use", "abort=", ...OPTIONS],
      { cwd: import.meta.dirname, encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`The kernel does not compile:\n${stderr}`);
    return readFileSync(out).toString("base64");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main)
  writeFileSync(
    new URL("src/kernel-bytes.ts", import.meta.url),
    `// Made by build-kernel.ts of assembly/resample.ts.\nexport const KERNEL_BASE64 =\n  "${compileKernel()}";\n`,
  );
