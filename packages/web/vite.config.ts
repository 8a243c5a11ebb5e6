import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defaultClientConditions, defineConfig } from "vite";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** The prebuilt client: the page the runner serves at /client/. */
export default defineConfig({
  root: path("client"),
  base: "/client/",
  plugins: [react(), tailwind()],
  resolve: {
    conditions: ["@vocalhost/source", ...defaultClientConditions],
    // The transports name it for a media manager this page replaces; it loads code from a foreign address.
    alias: { "@daily-co/daily-js": path("shared/media/no-daily.ts") },
  },
  worker: { format: "es" },
  build: {
    outDir: path("../sdk/client-page"),
    emptyOutDir: true,
    assetsInlineLimit: 0, // data: addresses are not allowed by the page's content policy
    target: "es2023",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
