import { parseJson } from "@vocalhost/protocol";
import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { RoomServerOptions } from "./settings.ts";
import { readTurnConfig } from "./turn.ts";

/** What the environment says about a room server that runs alone. */
export interface RoomConfig {
  options: RoomServerOptions;
  logLevel: "debug" | "info" | "warn" | "error";
  /** The secret was made up for this run and must be shown. */
  isSecretNew: boolean;
}

const port = z.coerce.number().int().min(0).max(65_535);
const IceServers = z.array(
  z.object({ urls: z.array(z.string()), username: z.string().optional(), credential: z.string().optional() }),
);
const count = z.coerce.number().int().positive();

const Environment = z.object({
  VOCALHOST_ROOMS_API_KEY: z.string().min(1).default("vocalhost"),
  VOCALHOST_ROOMS_API_SECRET: z.string().min(32, "must have at least 32 characters").optional(),
  VOCALHOST_ROOMS_LISTEN: z
    .string()
    .regex(/^(\[[\da-f:]+\]|[^:]+):\d+$/i, "must be host:port")
    .default("127.0.0.1:7880"),
  VOCALHOST_ROOMS_PUBLIC_URL: z.url({ protocol: /^wss?$/ }).optional(),
  VOCALHOST_ROOMS_BOT_ADDRESSES: z
    .string()
    .transform((text) => text.split(",").map((address) => address.trim()))
    .pipe(z.array(z.union([z.ipv4(), z.ipv6()], "must be addresses of this machine")))
    .optional(),
  VOCALHOST_ROOMS_BOT_PORT: port.default(7881),
  VOCALHOST_ROOMS_UDP_PORT: port.optional(),
  VOCALHOST_ROOMS_BIND_ADDRESS: z.union([z.ipv4(), z.ipv6()]).optional(),
  VOCALHOST_ROOMS_PUBLIC_ADDRESS: z.union([z.ipv4(), z.ipv6()]).optional(),
  VOCALHOST_ROOMS_ALLOW_PRIVATE_CANDIDATES: z.enum(["0", "1"]).default("0"),
  VOCALHOST_ROOMS_ICE_SERVERS: z
    .string()
    .transform((text, context) => {
      const parsed = IceServers.safeParse(parseJson(text));
      if (parsed.success) return parsed.data;
      context.addIssue({ code: "custom", message: 'must be JSON like [{"urls":["stun:host:port"]}]' });
      return z.NEVER;
    })
    .optional(),
  VOCALHOST_ROOMS_MAX_ROOMS: count.optional(),
  VOCALHOST_ROOMS_MAX_PARTICIPANTS: count.optional(),
  VOCALHOST_ROOMS_KEEP_DELETED_CLOSED: z.enum(["0", "1"]).default("0"),
  VOCALHOST_ROOMS_LOG_LEVEL: z.enum(["debug", "info", "warn", "error"]).default("info"),
});

/** Throws an error whose message names every setting that is wrong. */
export function readConfig(environment: Record<string, string | undefined> = process.env): RoomConfig {
  const parsed = Environment.safeParse(environment);
  if (!parsed.success)
    throw new Error(
      parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("\n"),
    );
  const values = parsed.data;
  const at = values.VOCALHOST_ROOMS_LISTEN.lastIndexOf(":");
  return {
    logLevel: values.VOCALHOST_ROOMS_LOG_LEVEL,
    isSecretNew: values.VOCALHOST_ROOMS_API_SECRET === undefined,
    options: {
      apiKey: values.VOCALHOST_ROOMS_API_KEY,
      apiSecret: values.VOCALHOST_ROOMS_API_SECRET ?? randomBytes(32).toString("base64url"),
      listen: {
        host: values.VOCALHOST_ROOMS_LISTEN.slice(0, at).replaceAll(/[[\]]/g, ""),
        port: Number(values.VOCALHOST_ROOMS_LISTEN.slice(at + 1)),
      },
      media: withoutUndefined({
        udpPort: values.VOCALHOST_ROOMS_UDP_PORT,
        bindAddress: values.VOCALHOST_ROOMS_BIND_ADDRESS,
        announcedAddress: values.VOCALHOST_ROOMS_PUBLIC_ADDRESS,
        allowPrivateCandidates: values.VOCALHOST_ROOMS_ALLOW_PRIVATE_CANDIDATES === "1",
      }),
      keepsDeletedClosed: values.VOCALHOST_ROOMS_KEEP_DELETED_CLOSED === "1",
      limits: withoutUndefined({
        rooms: values.VOCALHOST_ROOMS_MAX_ROOMS,
        participantsPerRoom: values.VOCALHOST_ROOMS_MAX_PARTICIPANTS,
      }),
      ...withoutUndefined({
        publicUrl: values.VOCALHOST_ROOMS_PUBLIC_URL,
        bots: values.VOCALHOST_ROOMS_BOT_ADDRESSES && {
          addresses: values.VOCALHOST_ROOMS_BOT_ADDRESSES,
          port: values.VOCALHOST_ROOMS_BOT_PORT,
        },
        turn: readTurnConfig(environment),
        iceServers: values.VOCALHOST_ROOMS_ICE_SERVERS?.map((server) => ({
          urls: server.urls,
          ...withoutUndefined({ username: server.username, credential: server.credential }),
        })),
      }),
    },
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function withoutUndefined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
