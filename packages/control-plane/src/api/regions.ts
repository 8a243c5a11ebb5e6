import { AppError, regionOperations, type Region } from "@vocalhost/protocol";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

export function handleRegions({ regions, hasVoiceEngine, isolation, probeMedia }: ApiPorts): Handled[] {
  return handle(regionOperations)({
    regions: async () => ({ regions: regions.map(viewOf) }),
    region: async ({ params: { code } }) => {
      const region = regions.find((each) => each.code === code);
      if (!region) throw new AppError("NOT_FOUND", { message: `There is no region '${code}'` });
      return { ...viewOf(region), region_key: code };
    },
    registryKeys: async () => ({ registry_keys: [] }),
    isolation: async () => isolation(),
    voiceFilter: async () => ({ engine: hasVoiceEngine ? "available" : "absent" }),
    probeMedia: async () => probeMedia(),
  });
}

function viewOf({ code, displayName, driver, isDown }: ApiPorts["regions"][number]): Region {
  return {
    code,
    display_name: displayName,
    ...(driver === undefined ? {} : { driver }),
    ...(isDown ? { status: isDown() ? "down" : "up" } : {}),
  };
}
