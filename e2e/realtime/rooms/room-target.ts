import { startRoomServer, type RoomServerOptions } from "@vocalhost/rooms";
import { AccessToken, RoomServiceClient, type VideoGrant } from "livekit-server-sdk";

/** The room server under test: ours, or a LiveKit server when LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET say so. */
export interface RoomTarget extends AsyncDisposable {
  readonly isOurs: boolean;
  readonly url: string;
  readonly httpUrl: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly service: RoomServiceClient;
  token(identity: string, room: string, options?: TokenOptions): Promise<string>;
}

export interface TokenOptions extends VideoGrant {
  /** Seconds, or as "10m". */
  ttl?: number | string;
  name?: string;
  apiSecret?: string;
}

export type OwnServerOptions = Pick<RoomServerOptions, "limits" | "timing" | "media">;

export async function openRoomTarget(options: OwnServerOptions = {}): Promise<RoomTarget> {
  const { LIVEKIT_URL, LIVEKIT_API_KEY, LIVEKIT_API_SECRET } = process.env;
  if (LIVEKIT_URL && LIVEKIT_API_KEY && LIVEKIT_API_SECRET)
    return toTarget({
      url: LIVEKIT_URL,
      apiKey: LIVEKIT_API_KEY,
      apiSecret: LIVEKIT_API_SECRET,
      isOurs: false,
    });
  return openOwnTarget(options);
}

/** Ours, whatever the environment says: for limits and times that only it has. */
export async function openOwnTarget(options: OwnServerOptions = {}): Promise<RoomTarget> {
  const key = { apiKey: "testkey", apiSecret: "a secret of thirty-two characters" };
  const server = await startRoomServer({
    ...key,
    ...options,
    listen: { port: 0 },
    media: { udpPort: 0, ...options.media },
  });
  const target = toTarget({ url: server.url ?? "", ...key, isOurs: true });
  return { ...target, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

interface Address {
  url: string;
  apiKey: string;
  apiSecret: string;
  isOurs: boolean;
}

function toTarget({ url, apiKey, apiSecret, isOurs }: Address): RoomTarget {
  const httpUrl = url.replace(/^ws/, "http");
  return {
    isOurs,
    url,
    httpUrl,
    apiKey,
    apiSecret,
    service: new RoomServiceClient(httpUrl, apiKey, apiSecret),
    token(identity, room, { ttl = "10m", name, apiSecret: secret = apiSecret, ...grant } = {}) {
      const token = new AccessToken(apiKey, secret, { identity, ttl, ...(name ? { name } : {}) });
      token.addGrant({ roomJoin: true, room, ...grant });
      return token.toJwt();
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}
