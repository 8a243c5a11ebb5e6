import {
  AppError,
  Isolation,
  MediaProbe,
  RegionDetails,
  RegionList,
  VoiceFilterSupport,
  type Region,
} from "@vocalhost/protocol";
import { z } from "zod";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

export function regionOperations({ regions, hasVoiceEngine, isolation, probeMedia }: ApiPorts): Operation[] {
  return [
    defineOperation({
      id: "listRegions",
      tag: "Regions",
      summary: "Regions in which agents can be deployed and secrets stored",
      method: "GET",
      path: "/regions",
      right: "view",
      answers: { 200: RegionList },
      run: async () => ({ regions: regions.map(viewOf) }),
    }),
    defineOperation({
      id: "getRegion",
      tag: "Regions",
      summary: "One region",
      method: "GET",
      path: "/regions/:code",
      right: "view",
      params: z.object({ code: z.string() }),
      answers: { 200: RegionDetails },
      run: async ({ params: { code } }) => {
        const region = regions.find((each) => each.code === code);
        if (!region) throw new AppError("NOT_FOUND", { message: `There is no region '${code}'` });
        return { ...viewOf(region), region_key: code };
      },
    }),
    defineOperation({
      id: "listRegistryKeys",
      tag: "Regions",
      summary: "Keys of a registry of packages, of which there is none",
      method: "GET",
      path: "/registry-keys",
      aliasOnly: true,
      right: "view",
      answers: { 200: z.object({ registry_keys: z.array(z.never()) }) },
      run: async () => ({ registry_keys: [] }),
    }),
    defineOperation({
      id: "getIsolation",
      tag: "Regions",
      summary: "What keeps bots that are processes apart, and what holds them to their memory",
      method: "GET",
      path: "/isolation",
      right: "view",
      answers: { 200: Isolation },
      run: async () => isolation(),
    }),
    defineOperation({
      id: "getVoiceFilterSupport",
      tag: "Regions",
      summary: "Whether the service can run the voice filter",
      method: "GET",
      path: "/voice-filter",
      right: "view",
      answers: { 200: VoiceFilterSupport },
      run: async () => ({ engine: hasVoiceEngine ? ("available" as const) : ("absent" as const) }),
    }),
    defineOperation({
      id: "probeMedia",
      tag: "Regions",
      summary: "Where WebRTC calls come in, with a port that answers STUN for ten seconds",
      method: "POST",
      path: "/media/probe",
      right: "manage",
      answers: { 200: MediaProbe },
      run: async () => probeMedia(),
    }),
  ];
}

function viewOf({ code, displayName, driver, isDown }: ApiPorts["regions"][number]): Region {
  return {
    code,
    display_name: displayName,
    ...(driver === undefined ? {} : { driver }),
    ...(isDown ? { status: isDown() ? "down" : "up" } : {}),
  };
}
