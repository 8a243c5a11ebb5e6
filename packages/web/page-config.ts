import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { build, defaultClientConditions, type Plugin, type Rolldown, type UserConfig } from "vite";

const NOTICE =
  "/* Notices of what is bundled here: third-party-licenses.md of the package that serves this file */";
const TARGET = "es2023";
const RESOLVE = {
  conditions: ["@vocalhost/source", ...defaultClientConditions],
  // The transports name it for a media manager these pages replace; it loads code from a foreign address.
  alias: { "@daily-co/daily-js": path("shared/media/no-daily.ts") },
};

/** The differences between the pages; paths are relative to this folder. */
interface PageOptions {
  root: string;
  /** Where the page is served. */
  base: string;
  output: string;
  /** Modules to keep in one chunk; the rest is split where code is first needed. */
  pieces?: Rolldown.CodeSplittingGroup[];
}

/** How each of the two pages is built. */
export function createPageConfig({ root, base, output, pieces = [] }: PageOptions): UserConfig {
  return {
    root: path(root),
    base,
    publicDir: path("client/public"),
    plugins: [react(), tailwind(), embedScript()],
    resolve: RESOLVE,
    worker: { format: "es" },
    build: {
      outDir: path(output),
      emptyOutDir: true,
      assetsInlineLimit: 0, // data: addresses are not allowed by the pages' content policy
      target: TARGET,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: { output: { codeSplitting: { groups: pieces } } },
      license: { fileName: "third-party-licenses.md" }, // what is bundled asks for its notice to go with it
    },
  };
}

/** Beside each page lies the talk button for pages of others: one classic script, which any page may load. */
function embedScript(): Plugin {
  return {
    name: "embed-script",
    apply: "build",
    async generateBundle() {
      const built = await build({
        configFile: false,
        logLevel: "error",
        publicDir: false,
        resolve: RESOLVE,
        build: {
          write: false,
          target: TARGET,
          modulePreload: false,
          rolldownOptions: { input: path("embed/embed.ts"), output: { format: "iife" } },
        },
      });
      const outputs = Array.isArray(built) ? built : "output" in built ? [built] : [];
      const [chunk] = outputs.flatMap(({ output }) => output);
      if (chunk?.type !== "chunk") throw new Error("The talk button was not built");
      this.emitFile({ type: "asset", fileName: "embed.js", source: `${NOTICE}\n${chunk.code}` });
    },
  };
}

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
