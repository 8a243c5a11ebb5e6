import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defaultClientConditions, type UserConfig } from "vite";

/** What differs between the pages; folders are seen from this one. */
interface PageOptions {
  root: string;
  /** Where the page is served. */
  base: string;
  output: string;
}

/** How each of the two pages is built. */
export function createPageConfig({ root, base, output }: PageOptions): UserConfig {
  return {
    root: path(root),
    base,
    publicDir: path("client/public"),
    plugins: [react(), tailwind()],
    resolve: {
      conditions: ["@vocalhost/source", ...defaultClientConditions],
      // The transports name it for a media manager these pages replace; it loads code from a foreign address.
      alias: { "@daily-co/daily-js": path("shared/media/no-daily.ts") },
    },
    worker: { format: "es" },
    build: {
      outDir: path(output),
      emptyOutDir: true,
      assetsInlineLimit: 0, // data: addresses are not allowed by the pages' content policy
      target: "es2023",
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      license: { fileName: "third-party-licenses.md" }, // what is bundled asks for its notice to go with it
    },
  };
}

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
