// Puts a package's programs together from its sources and all they import: a program of a few files starts in half the
// time of one of seven hundred.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const repository = fileURLToPath(new URL("../", import.meta.url));

/** What others start or import, by its path among the sources. */
const ENTRIES: Record<string, string[]> = {
  rooms: [
    "index",
    "providers/index",
    "providers/config",
    "config",
    "turn",
    "native",
    "main",
    "media/media-main",
  ],
  sdk: [
    "index",
    "runner/index",
    "filters/index",
    "stand-ins/index",
    "providers/*",
    "instance/main",
    "instance/image-main",
    "instance/compile-cache-main",
    "media/media-worker",
    "pacing/pacing-worker",
    "runtime/app", // for tests that look inside; the package exports none of it but `app`
  ],
  "control-plane": [
    "main/up-main",
    "main/gateway-main",
    "main/controller-main",
    "main/operate-main",
    "builds/builder-main",
    "../../store/src/sqlite-worker",
  ],
  cli: ["main"],
};

// Of what is installed with it: pure JavaScript that every process needs, or that shares most of what it loads with ours. All
// else stays where it is.
const INLINED =
  /^(?:@vocalhost\/(?:protocol|audio|simulator|images|rooms\/(?:config|providers\/config|turn))|zod|fastify|@fastify\/[^/]+|fastify-type-provider-zod|pino|ws|kysely|better-auth|@better-auth\/[^/]+|prom-client|uuid|modern-tar)(?:\/|$)/;

export const BUNDLED_PACKAGES = Object.keys(ENTRIES);

/** Writes it beside what is in the folder already, with the licences of what it holds. */
export async function bundlePackage(name: string, outDir: string): Promise<void> {
  const folder = join(repository, "packages", name);
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  ) as Partial<Record<"dependencies" | "peerDependencies", Record<string, string>>>;
  const installed = Object.keys({ ...dependencies, ...peerDependencies }).filter(
    (each) => !INLINED.test(each),
  );
  const isExternal = (id: string): boolean =>
    !INLINED.test(id) && installed.some((each) => id === each || id.startsWith(`${each}/`));
  const entries = (ENTRIES[name] ?? []).flatMap((pattern) =>
    globSync(`${pattern}.ts`, { cwd: join(folder, "src") }),
  );
  const input = entries
    .filter((file) => !file.endsWith(".test.ts"))
    .map((file) => [file.replace(/\.ts$/, "").replace(/^.*\/src\//, ""), join(folder, "src", file)]);
  await build({
    configFile: false,
    root: folder,
    logLevel: "warn",
    publicDir: false,
    ssr: {
      noExternal: true,
      resolve: { conditions: ["@vocalhost/source", "node", "module"] },
    },
    build: {
      ssr: true,
      target: "node24",
      minify: false,
      outDir,
      emptyOutDir: false,
      license: { fileName: "third-party-licenses.md" },
      rolldownOptions: {
        external: isExternal,
        input: Object.fromEntries(input) as Record<string, string>,
        output: {
          entryFileNames: "[name].js",
          chunkFileNames: "parts/[name]-[hash].js",
          comments: { legal: true, annotation: false, jsdoc: false },
          // A single other character makes V8 keep a whole file in twice the memory, and read it in twice the time.
          minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
        },
      },
    },
  });
}
