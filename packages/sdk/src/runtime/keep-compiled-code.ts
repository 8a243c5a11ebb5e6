import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { packageFolder } from "../own-files.ts";

// A bot imports this first, so that Node keeps the compiled code of its later imports, such as the runner. Only a user
// who may change the package may write to this folder. Node skips it if it cannot, or if a driver has named another.
if (import.meta.filename.endsWith(".js"))
  enableCompileCache(join(packageFolder, "node_modules/.cache/compiled"));
