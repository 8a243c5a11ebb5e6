import { z } from "zod";
import { Isolation } from "./isolation.ts";
import { MediaProbe } from "./media.ts";
import { operations } from "./operation.ts";
import { VoiceFilterSupport } from "./voice-filter.ts";

export const RegionCode = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/)
  .max(63);

export const Region = z.object({
  code: RegionCode,
  display_name: z.string(),
  /** How instances are made there: `process`, `container`, … Only where regions have drivers of their own. */
  driver: z.string().optional(),
  /** Likewise. `down`: calls go on, and agents there are not looked after until it is back. */
  status: z.enum(["up", "down"]).optional(),
});
export type Region = z.infer<typeof Region>;

/** One region, under its other name as well. */
export const RegionDetails = Region.extend({ region_key: z.string() });

export const RegionList = z.object({ regions: z.array(Region) });
export type RegionList = z.infer<typeof RegionList>;

export const regionOperations = operations("Regions", {
  regions: {
    id: "listRegions",
    summary: "Regions in which agents can be deployed and secrets stored",
    method: "GET",
    path: "/regions",
    right: "view",
    answer: RegionList,
  },
  region: {
    id: "getRegion",
    summary: "One region",
    method: "GET",
    path: "/regions/:code",
    right: "view",
    answer: RegionDetails,
  },
  registryKeys: {
    id: "listRegistryKeys",
    summary: "Keys of a registry of packages, of which there is none",
    method: "GET",
    path: "/registry-keys",
    scoped: "only",
    right: "view",
    answer: z.object({ registry_keys: z.array(z.never()) }),
  },
  isolation: {
    id: "getIsolation",
    summary: "What keeps bots that are processes apart, and what holds them to their memory",
    method: "GET",
    path: "/isolation",
    right: "view",
    answer: Isolation,
  },
  voiceFilter: {
    id: "getVoiceFilterSupport",
    summary: "Whether the service can run the voice filter",
    method: "GET",
    path: "/voice-filter",
    right: "view",
    answer: VoiceFilterSupport,
  },
  /** Where somebody answers for a few seconds to whoever can reach it. */
  probeMedia: {
    id: "probeMedia",
    summary: "Where WebRTC calls come in, with a port that answers STUN for ten seconds",
    method: "POST",
    path: "/media/probe",
    right: "manage",
    answer: MediaProbe,
  },
});
