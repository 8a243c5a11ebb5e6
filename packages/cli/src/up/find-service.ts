import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Problem } from "../problem.ts";
import { version } from "../version.ts";

/** Where the service's own program is, and what Node must be told to run it. */
export interface ServiceProgram {
  file: string;
  nodeOptions: string[];
}

const SERVICE_PACKAGE = "@vocalhost/control-plane";
const IS_SOURCE = import.meta.filename.endsWith(".ts"); // sources start sources, what is built starts what is built

/** By the package's path: it runs as processes of its own and is never imported. */
export function findService(name: "up" | "operate" = "up"): ServiceProgram {
  const folder = packageFolder();
  return IS_SOURCE
    ? { file: join(folder, "src/main", `${name}-main.ts`), nodeOptions: ["--conditions=@vocalhost/source"] }
    : { file: join(folder, "dist/main", `${name}-main.js`), nodeOptions: [] };
}

function packageFolder(): string {
  try {
    const { resolve } = createRequire(import.meta.url);
    return dirname(resolve(`${SERVICE_PACKAGE}/package.json`));
  } catch (error) {
    throw new Problem("service_missing", `The package ${SERVICE_PACKAGE} is not installed`, {
      why: "The command line runs the service installed beside it. It does not bring one, so that it stays small.",
      fixes: [`Install it: npm install ${isInProject() ? "--save-dev" : "-g"} ${SERVICE_PACKAGE}@${version}`],
      cause: error,
    });
  }
}

/** The folder that npm installs global packages into has no manifest. */
function isInProject(): boolean {
  const [folder = ""] = import.meta.dirname.split(/[/\\]node_modules[/\\]/);
  return existsSync(join(folder, "package.json"));
}
