import { Isolation, MediaProbe, RegionList, VoiceFilterSupport } from "@vocalhost/protocol";
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
      run: async () => ({
        regions: regions.map(({ code, displayName, driver, isDown }) => ({
          code,
          display_name: displayName,
          ...(driver === undefined ? {} : { driver }),
          ...(isDown ? { status: isDown() ? ("down" as const) : ("up" as const) } : {}),
        })),
      }),
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
