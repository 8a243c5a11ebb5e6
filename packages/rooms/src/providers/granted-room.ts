import type { TokenKey } from "../tokens.ts";

/** The room in which a token of this key lets its bearer hear and speak; undefined when there is none. */
export async function grantedRoom(token: string, key: TokenKey): Promise<string | undefined> {
  const { verifyToken } = await import("../tokens.ts");
  const grants = await verifyToken(token, key).catch(() => undefined);
  const { roomJoin, room, canPublish = true, canSubscribe = true } = grants?.video ?? {};
  return roomJoin && canPublish && canSubscribe ? room || undefined : undefined;
}
