// Makes the compile cache of the base image: `node --random-seed=1 compile-cache-main.js`. The seed makes V8 write the
// same bytes each time, so that the same packages give the same image.
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
process.exit(0); // whatever the modules have going on
