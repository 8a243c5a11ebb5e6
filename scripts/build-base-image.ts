// Makes the base image from this repository, unless the one that is there was made from the same: `npm run build:base-image`.
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  BASE_VERSION,
  buildBase,
  compressedBytes,
  LockFile,
  openImageFolder,
  parsePlatform,
  thisPlatform,
} from "@vocalhost/images";
import { packProduct, PRODUCT_PACKAGES } from "./product-packages.ts";

const repository = fileURLToPath(new URL("../", import.meta.url));
const work = join(repository, "node_modules/.cache/base-image");
const name = `vocalhost/base:${BASE_VERSION}`;

const { values } = parseArgs({
  options: { platform: { type: "string" }, again: { type: "boolean" }, verbose: { type: "boolean" } },
});
const platform = values.platform === undefined ? thisPlatform() : parsePlatform(values.platform);
const images = await openImageFolder(join(work, "images"));
const madeFrom = hashInputs();
const found = await images.find(name, platform);
if (found?.madeFrom !== madeFrom || values.again) {
  const startedMs = performance.now();
  const { archives, lock } = await packProduct(join(work, "packages"));
  const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
    version: string;
  };
  const { image, billOfMaterials, withoutCompileCache } = await buildBase({
    images,
    workFolder: join(work, "work"),
    platform,
    product: { specs: archives, lock: LockFile.parse(lock) },
    productVersion: version,
    environment: process.env,
    onStep: (step) => (process.stdout.isTTY || values.verbose) && console.log(`  ${step}`),
  });
  await images.put(image, name, { madeFrom });
  await writeFile(join(work, `base-${BASE_VERSION}-${platform.architecture}.spdx.json`), billOfMaterials);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const megabytes = (compressedBytes(image) / 1_000_000).toFixed(1);
  console.log(
    `${name} for linux/${platform.architecture} made in ${seconds} s (${megabytes} MB compressed, ${image.digest})`,
  );
  if (withoutCompileCache !== undefined) console.log(`It has no compile cache: ${withoutCompileCache}`);
}

function hashInputs(): string {
  const hash = createHash("sha256");
  const inputs = [
    "package-lock.json",
    "scripts/{bundle,product-packages}.ts",
    "packages/images/src/**/*.ts",
    ...PRODUCT_PACKAGES.flatMap((folder) => [
      `packages/${folder}/{package.json,NOTICE}`,
      `packages/${folder}/src/**/*`,
      `packages/${folder}/{models,wasm}/*`,
    ]),
  ];
  for (const path of globSync(inputs, { cwd: repository }).toSorted()) {
    if (/\.test\.ts$|\/testing(?:\/|$)/.test(path)) continue;
    const content = readUnlessFolder(join(repository, path));
    if (content) hash.update(path).update(content);
  }
  return hash.digest("hex");
}

function readUnlessFolder(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EISDIR") return undefined;
    throw error;
  }
}
