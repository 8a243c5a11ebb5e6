// Puts a package's programs together from its sources and all they import: a program of a few files starts in half the
// time of one of seven hundred.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import sbom from "rollup-plugin-sbom";
import { build } from "vite";

const repository = fileURLToPath(new URL("../", import.meta.url));

/** Entries that others start or import, by their paths among the sources. */
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

// A package is either bundled, and then a devDependency, or installed. Two kinds are both: packages of this repository, and
// those whose types are part of our own. Node would load some hundred files of them with every start.
const INLINED =
  /^(?:@vocalhost\/(?:protocol|audio|carriers|simulator|images|rooms\/(?:config|providers\/config|turn))|zod|fastify)(?:\/|$)/;

interface Manifest extends Partial<Record<"dependencies" | "peerDependencies", Record<string, string>>> {
  name: string;
  version: string;
}

export const BUNDLED_PACKAGES = Object.keys(ENTRIES);

/** Writes it beside what is in the folder already, with the licences of what it holds and the list of it (CycloneDX). */
export async function bundlePackage(name: string, outDir: string): Promise<void> {
  const folder = join(repository, "packages", name);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const { dependencies = {}, peerDependencies = {} } = manifest;
  const installed = Object.keys({ ...dependencies, ...peerDependencies });
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
    plugins: [
      sbom({
        rootComponentType: "library",
        outDir: ".",
        outFilename: "sbom.cdx",
        outFormats: ["json"],
        includeWellKnown: false,
        afterCollect: ({ metadata: { component } }) => {
          if (!component) return;
          const { name: fullName, version } = manifest; // it finds the repository's
          const purl = `pkg:npm/${fullName.replace("@", "%40")}@${version}`;
          Object.assign(component, { name: fullName, version, purl });
          component.bomRef.value = purl;
        },
        saveTimestamp: false, // the same sources give the same bytes
      }),
    ],
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
        // The list of what is bundled also names the tools, and misses one that Vite no longer has.
        onLog: (level, log, report) => {
          if (!log.message.includes('auto-registration of tool "rollup"')) report(level, log);
        },
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
