import {
  json,
  list,
  logFormatSetting,
  oneOf,
  readSettings,
  wholeNumber,
  type Settings,
} from "@vocalhost/protocol";
import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { RoomServerOptions } from "./settings.ts";
import { readTurnConfig } from "./turn.ts";

/** Settings of a room server that runs alone. */
export interface RoomConfig {
  options: RoomServerOptions;
  logLevel: "debug" | "info" | "warn" | "error";
  logFormat: "text" | "json" | undefined;
  /** The secret was generated for this run and must be shown. */
  isSecretNew: boolean;
}

const port = wholeNumber({ min: 0, max: 65_535 });
const count = wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER });
const ipAddress = z.union([z.ipv4(), z.ipv6()], "must be an address such as 203.0.113.7");
const oneOrZero = oneOf(["0", "1"]).transform((text) => text === "1");
const IceServers = z.array(
  z.object({ urls: z.array(z.string()), username: z.string().optional(), credential: z.string().optional() }),
);

export const roomSettings = {
  apiKey: {
    name: "VOCALHOST_ROOMS_API_KEY",
    schema: z.string().default("vocalhost"),
    help: "name of the key that signs access tokens",
  },
  apiSecret: {
    name: "VOCALHOST_ROOMS_API_SECRET",
    schema: z.string().min(32, "must have at least 32 characters").optional(),
    isSecret: true,
    preset: "a new one",
    help: "its secret; at least 32 characters",
  },
  listen: {
    name: "VOCALHOST_ROOMS_LISTEN",
    schema: z
      .string()
      .regex(/^(\[[\da-fA-F:]+\]|[^:]+):\d+$/, "must be host:port")
      .default("127.0.0.1:7880"),
    help: "address and port of signalling and service calls; `0` takes a free port",
  },
  publicUrl: {
    name: "VOCALHOST_ROOMS_PUBLIC_URL",
    schema: z
      .url({ protocol: /^wss?$/, error: "must be an address such as wss://rooms.example.com" })
      .optional(),
    help: "`wss://…` that participants use, behind TLS of your own",
  },
  botAddresses: {
    name: "VOCALHOST_ROOMS_BOT_ADDRESSES",
    schema: list.pipe(z.array(ipAddress)).optional(),
    help: "addresses of this machine at which bots in networks of their own find rooms and nothing else, and send media to; the hosted service sets it for bots in containers",
  },
  botPort: {
    name: "VOCALHOST_ROOMS_BOT_PORT",
    schema: port.default(7_881),
    help: "TCP port of those addresses; in the hosted service a free one",
  },
  udpPort: {
    name: "VOCALHOST_ROOMS_UDP_PORT",
    schema: port.optional(),
    preset: "`7882`",
    help: "the one port that carries all media; open it in the firewall",
  },
  bindAddress: {
    name: "VOCALHOST_ROOMS_BIND_ADDRESS",
    schema: ipAddress.optional(),
    preset: "every address",
    help: "address media is bound to",
  },
  announcedAddress: {
    name: "VOCALHOST_ROOMS_PUBLIC_ADDRESS",
    schema: ipAddress.optional(),
    help: "address participants are told instead of the machine's own, behind one-to-one NAT",
  },
  allowPrivateCandidates: {
    name: "VOCALHOST_ROOMS_ALLOW_PRIVATE_CANDIDATES",
    schema: oneOrZero.default(false),
    preset: "`0`",
    help: "`1` contacts private addresses that participants name; they reach the server without it",
  },
  keepsDeletedClosed: {
    name: "VOCALHOST_ROOMS_KEEP_DELETED_CLOSED",
    schema: oneOrZero.default(false),
    preset: "`0`",
    help: "`1`: tokens from before a room was deleted do not open it again (with LiveKit they do); the hosted service sets it",
  },
  iceServers: {
    name: "VOCALHOST_ROOMS_ICE_SERVERS",
    schema: json(IceServers, '[{"urls":["stun:host:port"]}]').optional(),
    isSecret: true,
    preset: "none",
    help: 'STUN and TURN servers for participants, JSON: `[{"urls":["turn:…"],"username":"…","credential":"…"}]`',
  },
  rooms: {
    name: "VOCALHOST_ROOMS_MAX_ROOMS",
    schema: count.optional(),
    preset: "`100`",
    help: "rooms at once",
  },
  participantsPerRoom: {
    name: "VOCALHOST_ROOMS_MAX_PARTICIPANTS",
    schema: count.optional(),
    preset: "`50`",
    help: "participants in one room",
  },
  logLevel: {
    name: "VOCALHOST_ROOMS_LOG_LEVEL",
    schema: oneOf(["debug", "info", "warn", "error"]).default("info"),
    help: "`debug`, `info`, `warn`, `error`",
  },
} as const satisfies Settings;

/** Throws an error whose message names every setting that is wrong. */
export function readConfig(environment: Record<string, string | undefined> = process.env): RoomConfig {
  const settings = readSettings(roomSettings, environment);
  const { apiKey, apiSecret, listen, publicUrl, botAddresses, botPort } = settings;
  const { udpPort, bindAddress, announcedAddress, allowPrivateCandidates } = settings;
  const { keepsDeletedClosed, iceServers, rooms, participantsPerRoom, logLevel } = settings;
  const at = listen.lastIndexOf(":");
  return {
    logLevel,
    ...readSettings({ logFormat: logFormatSetting }, environment),
    isSecretNew: apiSecret === undefined,
    options: {
      apiKey,
      apiSecret: apiSecret ?? randomBytes(32).toString("base64url"),
      listen: { host: listen.slice(0, at).replaceAll(/[[\]]/g, ""), port: Number(listen.slice(at + 1)) },
      media: withoutUndefined({ udpPort, bindAddress, announcedAddress, allowPrivateCandidates }),
      keepsDeletedClosed,
      limits: withoutUndefined({ rooms, participantsPerRoom }),
      ...withoutUndefined({
        publicUrl,
        bots: botAddresses && { addresses: botAddresses, port: botPort },
        turn: readTurnConfig(environment),
        iceServers: iceServers?.map((server) => ({
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
