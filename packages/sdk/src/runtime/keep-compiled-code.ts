import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { packageFolder } from "../own-files.ts";

// A bot imports this first, so that Node caches the compiled code of later imports, such as the runner. The folder
// is writable only for users who may change the package. Node skips an unwritable folder, and one that a driver
// has set wins.
if (import.meta.filename.endsWith(".js"))
  enableCompileCache(join(packageFolder, "node_modules/.cache/compiled"));
