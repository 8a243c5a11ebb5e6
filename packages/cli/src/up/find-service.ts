import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Problem } from "../problem.ts";

/** Where the service's own program is, and what Node must be told to run it. */
export interface ServiceProgram {
  file: string;
  nodeOptions: string[];
}

const SERVICE_PACKAGE = "@vocalhost/control-plane";

/** By the package's path: it runs as processes of its own and is never imported. */
export function findService(name: "up" | "operate" = "up"): ServiceProgram {
  const folder = packageFolder();
  const source = join(folder, "src", `${name}-main.ts`);
  if (existsSync(source)) return { file: source, nodeOptions: ["--conditions=@vocalhost/source"] };
  return { file: join(folder, "dist", `${name}-main.js`), nodeOptions: [] };
}

function packageFolder(): string {
  try {
    const { resolve } = createRequire(import.meta.url);
    return dirname(resolve(`${SERVICE_PACKAGE}/package.json`));
  } catch (error) {
    throw new Problem("service_missing", `The package ${SERVICE_PACKAGE} is not installed`, {
      why: "vocalhost up runs the service installed alongside it.",
      fixes: ["Install it: npm install -g @vocalhost/cli"],
      cause: error,
    });
  }
}
