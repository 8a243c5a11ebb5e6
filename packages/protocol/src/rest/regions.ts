import { z } from "zod";
import { operations } from "./operation.ts";

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

/** Isolation and memory limits of bots that run as processes beside the service. */
export const Isolation = z.object({
  /** Null: there are none. */
  processes: z
    .object({
      /** Numbers of the users that they have; null: they run as the service's own user. */
      users: z.object({ first: z.number(), last: z.number() }).nullable(),
      /** Why they have none of their own. */
      why: z.string().optional(),
      /** The kernel's control groups, or a check of the resident size every half second. */
      memory: z.enum(["control-groups", "watch"]),
    })
    .nullable(),
});
export type Isolation = z.infer<typeof Isolation>;

/** Addresses and a port that answer STUN binding requests for the next seconds. */
export const MediaProbe = z.object({
  /** The addresses announced to callers; empty for the machine's own. */
  addresses: z.array(z.string()),
  /** UDP ports that instances have; null: any. */
  ports: z.object({ first: z.number(), last: z.number() }).nullable(),
  /** Null when no probe is possible. */
  port: z.number().nullable(),
  /** An instance that waits for its session, or a socket opened for this. `nobody`: every port is in use. */
  answeredBy: z.enum(["instance", "listener", "nobody"]),
});
export type MediaProbe = z.infer<typeof MediaProbe>;

/** Without an engine audio is not filtered, and nothing is billed for it. */
export const VoiceFilterSupport = z.object({ engine: z.enum(["available", "absent"]) });
export type VoiceFilterSupport = z.infer<typeof VoiceFilterSupport>;

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
  /** Opens a probe: for a few seconds these addresses answer. */
  probeMedia: {
    id: "probeMedia",
    summary: "Where WebRTC calls come in, with a port that answers STUN for ten seconds",
    method: "POST",
    path: "/media/probe",
    right: "manage",
    answer: MediaProbe,
  },
});
