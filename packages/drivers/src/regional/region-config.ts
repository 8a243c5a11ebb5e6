import { parsedBy, type Settings } from "@vocalhost/protocol";
import { regionalVariables } from "../driver-config.ts";

export const regionSettings = {
  regions: {
    name: "VOCALHOST_REGIONS",
    schema: parsedBy(parseRegions).optional(),
    preset: "`this-machine=This machine`",
    help: "`code=name; code=name`; codes are small words joined by hyphens; the first is the default",
  },
  nearestRegions: {
    name: "VOCALHOST_NEAREST_REGIONS",
    preset: "order of `VOCALHOST_REGIONS`",
    help: "the regions that a start tries when its own is down or full, see [regions](#regions)",
  },
} as const satisfies Settings;

/** Where agents run, as callers name it and as people read it. */
export interface RegionName {
  code: string;
  displayName: string;
}

type Environment = Record<string, string | undefined>;

const OF_REGION = /^(VOCALHOST_[A-Z0-9_]*?)__([A-Z_]+)$/;

function parseRegions(text: string): RegionName[] {
  return text.split(";").map((entry) => {
    const [code = "", displayName] = entry.split("=").map((part) => part.trim());
    if (/^[a-z]+(?:-[a-z]+)+$/.test(code)) return { code, displayName: displayName || code };
    throw new Error("must be regions such as eu-central=Frankfurt; eu-north=Stockholm");
  });
}

/**
 * Settings as each region has them: `VOCALHOST_DRIVER__EU_NORTH=container` counts in `eu-north` instead of
 * `VOCALHOST_DRIVER`. Undefined where no region has any of its own.
 */
export function regionEnvironments(
  environment: Environment,
  regions: readonly RegionName[] | undefined,
): Map<string, Environment> | undefined {
  const own = Object.keys(environment).flatMap((name) => {
    const [, setting, suffix] = OF_REGION.exec(name) ?? [];
    return setting === undefined || suffix === undefined || !environment[name]
      ? []
      : [{ name, setting, suffix }];
  });
  if (own.length === 0) return undefined;
  const environments = new Map((regions ?? []).map(({ code }) => [code, { ...environment }]));
  for (const { name, setting, suffix } of own) {
    const found = environments.get(suffix.toLowerCase().replaceAll("_", "-"));
    if (!found)
      throw new Error(
        `${name}: there is no region ${suffix.toLowerCase().replaceAll("_", "-")}; VOCALHOST_REGIONS names ` +
          ([...environments.keys()].join(", ") || "none"),
      );
    if (!regionalVariables.includes(setting))
      throw new Error(
        `${name}: ${setting} is the same in all regions; only settings of drivers can be a region's own`,
      );
    found[setting] = environment[name];
  }
  return environments;
}

/** `eu-north: eu-central, us-east; us-east: us-west`: after each region those that are nearest to it. */
export function readNearestRegions(
  text: string | undefined,
  regions: readonly RegionName[] | undefined,
): Map<string, string[]> {
  const codes = (regions ?? []).map(({ code }) => code);
  const known = (code: string): string => {
    if (codes.includes(code)) return code;
    throw new Error(
      `VOCALHOST_NEAREST_REGIONS: there is no region ${code || '""'}; VOCALHOST_REGIONS names ${codes.join(", ") || "none"}`,
    );
  };
  const entries = (text ?? "").split(";").filter((entry) => entry.trim() !== "");
  return new Map(
    entries.map((entry) => {
      const [from = "", nearest] = entry.split(":");
      if (nearest === undefined)
        throw new Error(
          `VOCALHOST_NEAREST_REGIONS: "${entry.trim()}" says nothing; write eu-north: eu-central, us-east`,
        );
      return [known(from.trim()), nearest.split(",").map((code) => known(code.trim()))];
    }),
  );
}

/** Those named, then all others in the order in which they are configured. */
export function nearestTo(
  regions: readonly RegionName[] | undefined,
  nearest: ReadonlyMap<string, readonly string[]>,
): (region: string) => readonly string[] {
  const codes = (regions ?? []).map(({ code }) => code);
  return (region) => [...new Set([...(nearest.get(region) ?? []), ...codes])];
}
