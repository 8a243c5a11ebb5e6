import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, join } from "node:path";
import { test } from "node:test";
import { BUNDLED_PACKAGES } from "../scripts/bundle.ts";
import { circlesIn } from "./architecture/circles.ts";
import { importsIn, readSources, REPOSITORY, type SourceFile } from "./architecture/source-files.ts";
import { WEB_FOLDERS, webFolderOf } from "./architecture/web-folders.ts";

interface PackageRule {
  /** Packages of this repository it may import. */
  imports: string[];
  /** Narrows an arrow of `imports` to some files. */
  onlyFrom?: Record<string, string[]>;
  /** Runs in browsers too: no module of Node, and of npm only these. */
  neutral?: { npm: string[] };
}

/** Which package may import which. Only bots, and the packages bots are made of, import the SDK. */
const PACKAGES: Record<string, PackageRule> = {
  carriers: { imports: [], neutral: { npm: [] } },
  protocol: { imports: ["carriers"], neutral: { npm: ["zod"] } },
  audio: { imports: [], neutral: { npm: [] } },
  simulator: { imports: ["protocol", "audio"], neutral: { npm: [] } },
  rooms: { imports: ["protocol"] },
  sdk: {
    imports: ["protocol", "audio", "carriers", "rooms"],
    onlyFrom: {
      rooms: [
        ...["runner/rooms.ts", "runner/open-rooms.ts", "runner/turn.ts"],
        ...["media/peer.ts", "media/shared-port.ts", "media/media-worker.ts"],
      ],
    },
  },
  "livekit-agents": { imports: ["sdk"] },
  viva: { imports: [] },
  images: { imports: [] },
  cli: { imports: ["protocol", "audio", "carriers", "simulator", "images"] },
  "create-vocalhost": { imports: [] },
  web: { imports: ["protocol", "audio", "carriers", "simulator"] },
  base: { imports: ["protocol"] },
  store: { imports: ["base", "protocol"] },
  drivers: { imports: ["base", "protocol", "images"] },
  gateway: { imports: ["base", "protocol"] },
  "control-plane": {
    imports: ["gateway", "drivers", "store", "base", "protocol", "rooms", "images"],
    onlyFrom: { gateway: ["main/gateway-main.ts"] },
  },
};

/** Inside the SDK: which folder may import which. Files beside the folders are words they all share. */
const SDK_FOLDERS: Record<string, string[]> = {
  runner: ["runtime", "server", "bot", "filters", "media"],
  instance: ["runtime", "server", "transports", "bot", "filters", "media"],
  runtime: ["server"],
  server: ["transports", "bot", "filters", "media"],
  "stand-ins": ["conversation", "speech", "transports", "bot"],
  providers: ["conversation", "speech"],
  conversation: ["speech", "transports", "rtvi"],
  speech: ["transports"],
  transports: ["bot", "filters", "media", "pacing", "rtvi"],
  media: ["pacing"],
  pacing: [],
  rtvi: ["bot"],
  filters: [],
  bot: [],
};

/** Inside the control plane, from the top: nothing reaches up, and pools know only their rows. */
const CONTROL_PLANE_FOLDERS: Record<string, string[]> = {
  main: [
    ...["api", "reconciler", "upkeep", "sessions", "secrets", "agents"],
    ...["pools", "builds", "usage", "logs", "identity"],
  ],
  simulation: ["reconciler", "sessions", "agents", "pools", "identity"],
  api: ["sessions", "secrets", "agents", "builds", "usage", "logs", "identity"],
  reconciler: ["sessions", "agents", "pools", "identity"],
  upkeep: ["sessions", "secrets", "agents", "pools", "builds", "usage", "logs", "identity"],
  sessions: ["agents", "pools", "usage", "identity"],
  secrets: ["agents", "identity"],
  agents: ["pools", "builds", "identity"],
  pools: ["identity"],
  builds: ["identity"],
  usage: ["identity"],
  logs: ["identity"],
  identity: [],
};

/** The drivers themselves, each a file and its folder. */
const DRIVERS = ["process", "container", "kubernetes", "regional"];

interface FolderTable {
  arrows: Record<string, string[]>;
  /** Which row a file belongs to; none for what all of the package may import. */
  folderOf: (place: string) => string;
}

const FOLDER_TABLES: Record<string, FolderTable> = {
  sdk: { arrows: SDK_FOLDERS, folderOf },
  "control-plane": { arrows: CONTROL_PLANE_FOLDERS, folderOf },
  web: { arrows: WEB_FOLDERS, folderOf: webFolderOf },
};

/** Packages with a second way in, besides `index.ts` at their root. */
const INNER_ENTRIES = [
  "packages/sdk/src/runner/index.ts",
  "packages/sdk/src/filters/index.ts",
  "packages/sdk/src/stand-ins/index.ts",
  "packages/rooms/src/providers/index.ts",
];

/** Not imported, but wanted by something that is, and only one version of them fits. */
const PINNED_PEERS = ["@better-auth/core", "better-call"];

const FOLDER_NAMES_THAT_SAY_NOTHING = [
  "utils",
  "util",
  "helpers",
  "services",
  "types",
  "common",
  "shared-utils",
  "misc",
];

const LINES_MAX = 500;

const sources = readSources();
const code = sources.filter(({ isTest }) => !isTest);
const names = new Map(
  Object.keys(PACKAGES)
    .filter((folder) => existsSync(join(REPOSITORY, "packages", folder)))
    .map((folder) => [manifestOf(folder).name, folder]),
);

test("imports are found in every form they have", () => {
  const text = `
    import a from "a";
    import type { B } from "b";
    import { type C, c } from "c";
    import {
      d,
    } from "d";
    import "e";
    export { f } from "f";
    export type { G } from "g";
    const h = await import("h");
    const i = createRequire(import.meta.url)("i");
    // import j from "j";
    /** import k from "k"; */
    import * as l from './l.ts';
  `;
  assert.deepEqual(
    importsIn(text)
      .map(({ specifier, isType }) => (isType ? `type ${specifier}` : specifier))
      .sort(),
    ["./l.ts", "a", "c", "d", "e", "f", "h", "i", "type b", "type g"],
  );
  assert.ok(sources.length > 100);
  assert.ok(sources.some(({ imports }) => imports.some(({ specifier }) => specifier === "sherpa-onnx-node")));
});

test("every package is in the table", () => {
  const unknown = new Set(sources.map((file) => file.package).filter((name) => !PACKAGES[name]));
  assert.deepEqual([...unknown], []);
});

test("packages import what the table allows", () => {
  none(code, (file, { specifier }) => {
    const rule = PACKAGES[file.package];
    const target = names.get(packageOf(specifier));
    if (!rule || target === undefined) return false;
    return !rule.imports.includes(target) || !(rule.onlyFrom?.[target] ?? [file.place]).includes(file.place);
  });
});

test("packages reach each other by name, not by path", () => {
  none(
    sources,
    (file, { target }) =>
      target !== undefined &&
      !target.startsWith(`packages/${file.package}/`) &&
      !(file.isTest && target.startsWith("testing/")), // shared by all tests, and no package
  );
});

test("packages that run in browsers import nothing of Node", () => {
  none(code, (file, { specifier }) => {
    const neutral = PACKAGES[file.package]?.neutral;
    const isBuildStep = basename(file.path) === "build-kernel.ts"; // it runs here, and is not published
    if (!neutral || isBuildStep || specifier.startsWith(".") || names.has(packageOf(specifier))) return false;
    return !neutral.npm.includes(packageOf(specifier));
  });
  for (const [folder, { neutral }] of Object.entries(PACKAGES))
    if (neutral && existsSync(join(REPOSITORY, "packages", folder)))
      assert.deepEqual(neutralTypes(folder), [], folder);
});

test("what a package imports is in its manifest", () => {
  none(code, (file, { specifier }) => {
    if (specifier.startsWith(".") || isOfNode(specifier)) return false;
    const { dependencies = {}, devDependencies = {}, peerDependencies = {} } = manifestOf(file.package);
    // The page and programs are built where they are developed, with what they import in them.
    const declared = {
      ...dependencies,
      ...peerDependencies,
      ...(file.package === "web" || BUNDLED_PACKAGES.includes(file.package) ? devDependencies : {}),
    };
    const name = packageOf(specifier);
    return !(name in declared) && !partsOf(file.package).includes(names.get(name) ?? "");
  });
});

test("what a package makes others install is imported", () => {
  const unused = [...names.values()].flatMap((folder) => {
    const imported = new Set(
      code
        .filter((file) => [folder, ...partsOf(folder)].includes(file.package))
        .flatMap(({ imports }) => imports.map(({ specifier }) => packageOf(specifier))),
    );
    const declared = Object.keys(manifestOf(folder).dependencies ?? {});
    const isForeign = (name: string): boolean =>
      !names.has(name) && !name.startsWith("@types/") && !PINNED_PEERS.includes(name);
    return declared
      .filter((name) => isForeign(name) && !imported.has(name))
      .map((name) => `${folder}: ${name}`);
  });
  assert.deepEqual(unused, []);
});

for (const [name, table] of Object.entries(FOLDER_TABLES)) {
  test(`folders of ${name} import what the table allows`, () => {
    none(code, (file, { target }) => {
      if (file.package !== name || !target) return false;
      const from = table.folderOf(file.place);
      const to = table.folderOf(target.replace(`packages/${name}/`, "").replace(/^src\//, ""));
      return from !== "" && to !== "" && to !== from && !table.arrows[from]?.includes(to);
    });
    const folders = new Set(
      code.filter((file) => file.package === name).map((file) => table.folderOf(file.place)),
    );
    assert.deepEqual(
      [...folders].filter((folder) => folder !== "" && !table.arrows[folder]),
      [],
    );
  });

  test(`the arrows of ${name} run in no circle`, () => {
    assert.deepEqual(circlesIn(table.arrows), []);
  });
}

test("circles are found, long ones and those of one alone too", () => {
  assert.deepEqual(circlesIn({ a: ["b"], b: ["c"], c: [] }), []);
  assert.deepEqual(circlesIn({ a: ["b"], b: ["c"], c: ["a"], d: ["a", "d"] }), ["a ↔ b ↔ c", "d"]);
});

test("what all of the web package shares knows no folder of it", () => {
  none(
    code,
    (file, { target }) =>
      file.package === "web" &&
      /^shared\/[^/]+$/.test(file.place) &&
      target !== undefined &&
      webFolderOf(target.replace("packages/web/", "")) !== "",
  );
});

test("files of the web package import each other in no circle, types included", () => {
  const files = code.filter((file) => file.package === "web");
  assert.deepEqual(
    circlesIn(
      Object.fromEntries(
        files.map(({ path, imports }) => [path, imports.flatMap(({ target }) => target ?? [])]),
      ),
    ),
    [],
  );
});

test("the words all of the SDK shares are types to it where they name its parts", () => {
  none(code, (file, { target, isType }) => {
    const isWord = file.package === "sdk" && !file.place.includes("/") && file.place !== "index.ts";
    return (
      isWord && !isType && target !== undefined && folderOf(target.replace("packages/sdk/src/", "")) !== ""
    );
  });
});

test("drivers are chosen in one place, and know nothing of each other", () => {
  none(code, (file, { target }) => {
    if (file.package !== "drivers" || file.place === "open-driver.ts") return false;
    const driver = /^packages\/drivers\/src\/([^./]+)/.exec(target ?? "")?.[1] ?? "";
    return (
      DRIVERS.includes(driver) && !file.place.match(`^${driver}[./]`) && !file.place.endsWith("-config.ts")
    );
  });
  none(
    code,
    (file, { specifier }) =>
      DRIVERS.some((driver) => specifier === `@vocalhost/drivers/${driver}`) && file.package !== "drivers",
  );
});

test("the native library is reached through what knows when it may be called", () => {
  none(
    code,
    (file, { specifier }) =>
      packageOf(specifier) === "node-datachannel" && file.path !== "packages/rooms/src/native.ts",
  );
});

test("what only tests need stays with tests", () => {
  none(code, (_file, { specifier }) =>
    /\.test\.tsx?$|(?:^|\/)testing\/|^node:test$|^fast-check$/.test(specifier),
  );
});

test("modules of Node are named as such, our own with their ending", () => {
  none(sources, (_file, { specifier }) => builtinModules.includes(specifier) && !isOfNode(specifier));
  none(sources, (_file, { specifier }) => specifier.startsWith(".") && !/\.\w+(?:\?.+)?$/.test(specifier));
});

test("index.ts is at the root of a package only, and exports by name", () => {
  const entries = code.filter(({ path }) => basename(path) === "index.ts" && /\/src\//.test(path));
  const inner = entries.filter(({ place, path }) => place !== "index.ts" && !INNER_ENTRIES.includes(path));
  assert.deepEqual(
    inner.map(({ path }) => path),
    [],
  );
  assert.deepEqual(
    code.filter(({ text }) => /^\s*export\s*\*/m.test(text)).map(({ path }) => path),
    [],
  );
});

test("folders are named after what is in them", () => {
  const empty = sources.filter(({ place }) =>
    place
      .split("/")
      .slice(0, -1)
      .some((folder) => FOLDER_NAMES_THAT_SAY_NOTHING.includes(folder)),
  );
  assert.deepEqual(
    empty.map(({ path }) => path),
    [],
  );
});

test("the environment is read in config.ts only", () => {
  const readers = code.filter(
    ({ text, path }) => /\bprocess\s*\.\s*env\b/.test(text) && basename(path) !== "config.ts",
  );
  assert.deepEqual(
    readers.map(({ path }) => path),
    [],
  );
});

test("no file has more lines than a reader takes in", () => {
  const long = sources.filter(({ text }) => text.split("\n").length > LINES_MAX);
  assert.deepEqual(
    long.map(({ path }) => path),
    [],
  );
});

test("the map of the code shows the same arrows", () => {
  const map = readFileSync(join(REPOSITORY, "ARCHITECTURE.md"), "utf8");
  for (const folder of names.values()) {
    const row = new RegExp(`^\\| \`${folder}\`.*\\| ([^|]*) \\|$`, "m").exec(map);
    const shown = row?.[1]
      ?.replace("–", "")
      .split(",")
      .map((name) => name.trim())
      .filter(Boolean);
    const { imports = [], neutral } = PACKAGES[folder] ?? {};
    assert.deepEqual(shown?.sort(), [...imports, ...(neutral?.npm ?? [])].sort(), folder);
  }
});

type Imported = SourceFile["imports"][number];

/** Fails with every import that the rule finds wrong. */
function none(files: SourceFile[], isWrong: (file: SourceFile, imported: Imported) => boolean): void {
  const wrong = files.flatMap((file) =>
    file.imports
      .filter((imported) => isWrong(file, imported))
      .map(({ specifier }) => `${file.path} imports ${specifier}`),
  );
  assert.deepEqual(wrong, []);
}

function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

function isOfNode(specifier: string): boolean {
  return specifier.startsWith("node:");
}

function folderOf(place: string): string {
  return place.includes("/") ? (place.split("/", 1)[0] ?? "") : "";
}

/** Packages of ours that are not installed alone: their code is bundled into the one that has them. */
function partsOf(folder: string): string[] {
  return Object.keys(manifestOf(folder).devDependencies ?? {})
    .map((name) => names.get(name) ?? "")
    .filter((part) => part !== "" && manifestOf(part).private === true);
}

interface Manifest {
  name: string;
  private?: boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(REPOSITORY, "packages", folder, "package.json"), "utf8")) as Manifest;
}

/** The types with which a package's code, without its tests, is checked. */
function neutralTypes(folder: string): string[] {
  const path = join(REPOSITORY, "packages", folder, "tsconfig.neutral.json");
  const { compilerOptions } = JSON.parse(readFileSync(path, "utf8")) as {
    compilerOptions: { types: string[] };
  };
  return compilerOptions.types;
}
