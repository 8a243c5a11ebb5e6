import { z } from "zod";

const Participants = z.object({ participants: z.array(z.object({ identity: z.string() })) });
const CALL_MS = 3_000;

/** Removes all participants from a room with the bot's own token; LiveKit then closes the room. */
export async function emptyRoom(room: { roomUrl: string; roomName: string; token: string }): Promise<void> {
  const signal = AbortSignal.timeout(CALL_MS);
  const call = async (method: string, body: object): Promise<unknown> => {
    const response = await fetch(
      `${room.roomUrl.replace(/^ws/, "http")}/twirp/livekit.RoomService/${method}`,
      {
        method: "POST",
        headers: { authorization: `Bearer ${room.token}`, "content-type": "application/json" },
        body: JSON.stringify({ room: room.roomName, ...body }),
        signal,
      },
    );
    if (!response.ok && response.status !== 404) throw new Error(`${method} was answered ${response.status}`);
    return response.json();
  };
  const { participants } = Participants.parse(await call("ListParticipants", {}));
  await Promise.all(participants.map(({ identity }) => call("RemoveParticipant", { identity })));
}
