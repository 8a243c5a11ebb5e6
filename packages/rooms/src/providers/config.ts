import { httpUrl, oneOf, readSettings, roomProviderNames } from "@vocalhost/protocol";
import type { RoomProviderName, Settings, ValuesOf } from "@vocalhost/protocol";
import { z } from "zod";
import type { DailyConfig } from "./daily.ts";
import type { LiveKitConfig } from "./livekit.ts";

export const providerSettings = {
  wanted: {
    name: "VOCALHOST_ROOM_PROVIDER",
    schema: oneOf(roomProviderNames).optional(),
    preset: "`livekit` where `LIVEKIT_URL` is set, else `embedded`",
    help: "provider of the rooms that sessions use: `embedded`, `livekit` or `daily`",
  },
  livekitUrl: {
    name: "LIVEKIT_URL",
    schema: z
      .string()
      .refine(
        (url) => /^(?:wss?|https?):\/\/./.test(url) && URL.canParse(url),
        "must be an address such as wss://livekit.example.com",
      )
      .optional(),
    help: "a LiveKit server or LiveKit's cloud; needs the two below",
  },
  livekitKey: { name: "LIVEKIT_API_KEY", help: "its API key" },
  livekitSecret: { name: "LIVEKIT_API_SECRET", isSecret: true, help: "its API secret" },
  livekitRoom: {
    name: "LIVEKIT_ROOM_NAME",
    help: "one room for every session, which is never deleted",
  },
  livekitTrunk: {
    name: "LIVEKIT_SIP_TRUNK",
    help: "outbound SIP trunk of that server; bots may then call people into their rooms",
  },
  dailyKey: {
    name: "DAILY_API_KEY",
    isSecret: true,
    help: "API key of an account at Daily; it appears in no log and no answer",
  },
  dailyUrl: {
    name: "DAILY_API_URL",
    schema: httpUrl("https://api.daily.co/v1").default("https://api.daily.co/v1"),
    help: "address of Daily's REST interface",
  },
  dailyRoom: {
    name: "DAILY_ROOM_URL",
    schema: z
      .string()
      .refine(
        (url) => URL.canParse(url) && new URL(url).pathname.length > 1,
        "must be the address of a room such as https://you.daily.co/room",
      )
      .optional(),
    help: "one room for every session",
  },
  dailyDialInSecret: {
    name: "DAILY_DIALIN_HMAC",
    isSecret: true,
    help: "secret of the dial-in configuration, with which calls that come in are signed",
  },
  dailyEventSecret: {
    name: "DAILY_WEBHOOK_HMAC",
    isSecret: true,
    help: "secret of the webhook for Daily's event `dialin.ready`",
  },
} as const satisfies Settings;

/** The providers of rooms that are configured. */
export interface ProvidersConfig {
  /** The one that a client gets that asks for `room`. */
  preferred: RoomProviderName;
  livekit: LiveKitConfig | undefined;
  daily: DailyConfig | undefined;
}

type Values = ValuesOf<typeof providerSettings>;

/** Throws an error whose message names the setting that is wrong. */
export function readProvidersConfig(
  environment: Record<string, string | undefined> = process.env,
): ProvidersConfig {
  const values = readSettings(providerSettings, environment);
  const livekit = toLiveKit(values);
  const daily = toDaily(values);
  const preferred = values.wanted ?? (livekit ? "livekit" : "embedded");
  if (preferred === "livekit" && !livekit)
    throw new Error("Rooms of a LiveKit server: set LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET");
  if (preferred === "daily" && !daily)
    throw new Error("Rooms of Daily need an account there: set DAILY_API_KEY");
  return { preferred, livekit, daily };
}

function toLiveKit(values: Values): LiveKitConfig | undefined {
  const { livekitUrl: url, livekitKey: apiKey, livekitSecret: apiSecret } = values;
  if (url === undefined) return undefined;
  if (!apiKey || !apiSecret) throw new Error("LIVEKIT_URL needs LIVEKIT_API_KEY and LIVEKIT_API_SECRET");
  return {
    url: url.replace(/^http/, "ws").replace(/\/+$/, ""),
    ...{ apiKey, apiSecret, roomName: values.livekitRoom, sipTrunk: values.livekitTrunk },
  };
}

function toDaily(values: Values): DailyConfig | undefined {
  if (values.dailyKey === undefined) return undefined;
  return {
    apiKey: values.dailyKey,
    apiUrl: values.dailyUrl,
    roomUrl: values.dailyRoom,
    dialInSecret: values.dailyDialInSecret,
    eventSecret: values.dailyEventSecret,
  };
}
