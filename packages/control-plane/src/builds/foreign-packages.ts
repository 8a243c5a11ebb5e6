import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BotManifest } from "./bot-manifest.ts";
import { BuildProblem } from "./build-problem.ts";

const LOCK_FILES = ["package-lock.json", "npm-shrinkwrap.json"];

/** Refuses packages that come from somewhere else than the registry or the bot's own folder. */
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

/** A version, a range or a tag has neither a slash nor a colon. */
function isForeign(wanted: string): boolean {
  return !/^(?:npm:|file:|link:|\.\/)/.test(wanted) && /[:/]/.test(wanted);
}

/** Overrides are nested as deep as their author likes. */
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
