import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { z } from "zod";
import type { BotManifest } from "./bot-manifest.ts";
import { BuildProblem } from "./build-problem.ts";

const LOCK_FILES = ["package-lock.json", "npm-shrinkwrap.json"];
const INSTALLED = "node_modules/.package-lock.json";

/** Makes npm record the source of every package, regardless of the operator's npm settings. */
export const RECORD_EVERY_SOURCE = [
  "--package-lock=true",
  "--lockfile-version=3",
  "--omit-lockfile-registry-resolved=false",
];

/**
 * Refuses packages that npm took from outside the bot's folder. Manifests, archives and lock files in an upload can
 * name sources in more spellings than can be listed, but npm records the resolved ones. No package code has run by
 * then.
 */
export async function refuseTakenFromOutside(folder: string): Promise<void> {
  const written = LOCK_FILES.findLast((file) => existsSync(join(folder, file))); // npm prefers the last
  if (written === undefined) throw new Error("npm has not recorded what it installed");
  for (const file of [written, INSTALLED].filter((each) => existsSync(join(folder, each)))) {
    const text = await readFile(join(folder, file), "utf8");
    for (const [place, entry] of Object.entries(InstalledPackages.parse(JSON.parse(text)).packages))
      requireSourceInside(folder, place, entry);
  }
}

const InstalledPackage = z.object({ resolved: z.string().default(""), link: z.boolean().optional() });
type InstalledPackage = z.infer<typeof InstalledPackage>;
const InstalledPackages = z.object({ packages: z.record(z.string(), InstalledPackage) });

function requireSourceInside(folder: string, place: string, { resolved, link }: InstalledPackage): void {
  const source = (link ? resolved : /^file:(.*)$/is.exec(resolved)?.[1]) ?? "";
  const name = place.replace(/^.*node_modules\//, "");
  for (const path of [place, source, decoded(source)])
    if (!`${resolve(folder, path)}${sep}`.startsWith(resolve(folder) + sep))
      throw new BuildProblem(`The dependency ${name} is outside of the bot's folder: ${path}`);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Refuses packages from anywhere but the registry or the bot's own folder. */
export async function refuseForeignPackages(
  folder: string,
  { manifest, needed }: { manifest: BotManifest; needed: Record<string, string> },
): Promise<void> {
  for (const [name, wanted] of [...Object.entries(needed), ...specsIn("overrides", manifest["overrides"])])
    if (isForeign(wanted)) throw foreign(name, wanted);
  for (const file of LOCK_FILES) {
    const text = await readFile(join(folder, file), "utf8").catch(() => "{}");
    for (const [name, resolved] of resolvedIn(text, file))
      if (/^(?:git|ssh|github:|gitlab:|bitbucket:|gist:)/i.test(resolved)) throw foreign(name, resolved);
  }
}

/** A version, a range or a tag contains neither a slash nor a colon. */
function isForeign(wanted: string): boolean {
  return !/^(?:npm:|file:|link:|\.\/)/.test(wanted) && /[:/]/.test(wanted);
}

/** Overrides may be nested to any depth. */
function specsIn(name: string, value: unknown): [string, string][] {
  if (typeof value === "string") return [[name, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => specsIn(key, each));
}

function resolvedIn(text: string, file: string): [string, string][] {
  try {
    const { packages = {}, dependencies = {} } = JSON.parse(text) as Record<string, Record<string, unknown>>;
    return [...Object.entries(packages), ...Object.entries(dependencies)].flatMap(([name, entry]) => {
      const { resolved, version } = (entry ?? {}) as { resolved?: unknown; version?: unknown };
      return [resolved, version].flatMap((each): [string, string][] =>
        typeof each === "string" ? [[name, each]] : [],
      );
    });
  } catch (cause) {
    throw new BuildProblem(`${file} cannot be read`, { cause });
  }
}

function foreign(name: string, wanted: string): BuildProblem {
  return new BuildProblem(
    `The dependency ${name} comes from ${wanted.slice(0, 200)}. This service installs packages from its registry only; ` +
      "put the package into the bot's folder, or ask the operator to set VOCALHOST_FOREIGN_PACKAGES",
  );
}
