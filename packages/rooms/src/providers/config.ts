import { roomProviderNames, type RoomProviderName } from "@vocalhost/protocol";
import type { DailyConfig } from "./daily.ts";
import type { LiveKitConfig } from "./livekit.ts";

/** Which rooms there are, as the environment says. */
export interface ProvidersConfig {
  /** What `room` means. */
  preferred: RoomProviderName;
  livekit: LiveKitConfig | undefined;
  daily: DailyConfig | undefined;
}

type Environment = Record<string, string | undefined>;

const DAILY_API_URL = "https://api.daily.co/v1";

/** Throws an error whose message names the setting that is wrong. */
export function readProvidersConfig(environment: Environment = process.env): ProvidersConfig {
  const text = (name: string): string | undefined => environment[name] || undefined;
  const livekit = readLiveKit(text);
  const daily = readDaily(text);
  const wanted = text("VOCALHOST_ROOM_PROVIDER") ?? (livekit ? "livekit" : "embedded");
  const preferred = roomProviderNames.find((name) => name === wanted);
  if (!preferred)
    throw new Error(
      `VOCALHOST_ROOM_PROVIDER must be one of ${roomProviderNames.join(", ")}, got "${wanted}"`,
    );
  if (preferred === "livekit" && !livekit)
    throw new Error("Rooms of a LiveKit server: set LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET");
  if (preferred === "daily" && !daily)
    throw new Error("Rooms of Daily need an account there: set DAILY_API_KEY");
  return { preferred, livekit, daily };
}

function readLiveKit(text: (name: string) => string | undefined): LiveKitConfig | undefined {
  const url = text("LIVEKIT_URL");
  if (url === undefined) return undefined;
  if (!/^(?:wss?|https?):\/\/./.test(url) || !URL.canParse(url))
    throw new Error(`LIVEKIT_URL must be an address such as wss://livekit.example.com, got "${url}"`);
  const apiKey = text("LIVEKIT_API_KEY");
  const apiSecret = text("LIVEKIT_API_SECRET");
  if (!apiKey || !apiSecret) throw new Error("LIVEKIT_URL needs LIVEKIT_API_KEY and LIVEKIT_API_SECRET");
  return {
    url: url.replace(/^http/, "ws").replace(/\/+$/, ""),
    apiKey,
    apiSecret,
    roomName: text("LIVEKIT_ROOM_NAME"),
    sipTrunk: text("LIVEKIT_SIP_TRUNK"),
  };
}

function readDaily(text: (name: string) => string | undefined): DailyConfig | undefined {
  const apiKey = text("DAILY_API_KEY");
  if (apiKey === undefined) return undefined;
  const apiUrl = (text("DAILY_API_URL") ?? DAILY_API_URL).replace(/\/+$/, "");
  if (!/^https?:\/\/./.test(apiUrl) || !URL.canParse(apiUrl))
    throw new Error(`DAILY_API_URL must be an address such as ${DAILY_API_URL}, got "${apiUrl}"`);
  const roomUrl = text("DAILY_ROOM_URL");
  if (roomUrl !== undefined && !(URL.canParse(roomUrl) && new URL(roomUrl).pathname.length > 1))
    throw new Error(
      `DAILY_ROOM_URL must be the address of a room such as https://you.daily.co/room, got "${roomUrl}"`,
    );
  return {
    apiKey,
    apiUrl,
    roomUrl,
    dialInSecret: text("DAILY_DIALIN_HMAC"),
    eventSecret: text("DAILY_WEBHOOK_HMAC"),
  };
}
