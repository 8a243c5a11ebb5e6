// Makes the compile cache of the base image. The image build gives Node a seed and a large heap, so that V8 writes
// the same bytes each time.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { enableCompileCache, flushCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMPILE_CACHE, cacheTag } from "./compile-cache.ts";

const aside = mkdtempSync(join(tmpdir(), "compile-cache-"));
enableCompileCache(aside);
await import("../index.ts");
await import("../filters/index.ts");
await import("../runtime/app.ts");
await import("./start-instance.ts");
flushCompileCache();
cpSync(join(aside, cacheTag()), COMPILE_CACHE, { recursive: true });
rmSync(aside, { recursive: true });
process.exit(0); // without waiting for handles that modules keep open
