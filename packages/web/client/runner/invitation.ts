/** A room that was made for this page before it was opened: `/client/#room=…&token=…&session=…`. */
export interface RoomInvitation {
  url: string;
  token: string;
  sessionId: string;
}

export function parseInvitation(hash: string): RoomInvitation | undefined {
  const { room: url, token, session = "" } = Object.fromEntries(new URLSearchParams(hash.replace(/^#/, "")));
  if (!url || !token || !/^wss?:\/\//.test(url)) return undefined;
  return { url, token, sessionId: session };
}

export function invitationAddress(origin: string, { url, token, sessionId }: RoomInvitation): string {
  const place = new URLSearchParams({ room: url, token, session: sessionId });
  return `${origin}/client/#${place.toString()}`;
}
