import type { AudioFrame, AudioStream, Room } from "@livekit/rtc-node";
import { signToken, startRoomServer, type RoomServer, type TokenKey } from "@vocalhost/rooms";
import { randomUUID } from "node:crypto";
import { within } from "../../../../testing/wait.ts";
import { createRoomArguments } from "../bot/runner-arguments.ts";
import { loadLiveKitClient } from "../transports/config.ts";
import { createInvitations, setRoomAccess } from "../transports/room-access.ts";
import type { TransportOptions } from "../transports/transport.ts";
import { common, tellTo, type FarEnd, type HeardPiece } from "./far-ends.ts";

const KEY: TokenKey = { apiKey: "key", apiSecret: randomUUID(), audience: undefined };
const RATE_HZ = 24_000;
const QUIET = 50; // below this level a sample is idle noise: a participant's decoder never stops

let server: Promise<RoomServer> | undefined;

/** Call when the tests are over. */
export async function closeFarRooms(): Promise<void> {
  if (!server) return;
  await (await server)[Symbol.asyncDispose]();
  await (await loadLiveKitClient()).dispose(); // without this the process would not exit
}

export interface FarRoom extends FarEnd {
  /** The participant "listener", who is there from the beginning. */
  readonly listener: Room;
  /** Joins another participant, or the same one again. */
  join(identity: string): Promise<Room>;
}

/** Opens a bot in a room of our own server, with a listener that uses the released client. */
export async function openRoom(options?: TransportOptions): Promise<FarRoom> {
  await using stack = new AsyncDisposableStack();
  server ??= startRoomServer({
    ...KEY,
    listen: { port: 0 },
    media: { udpPort: 0, allowPrivateCandidates: true },
  });
  const { url: roomUrl = "" } = await server;
  const roomName = randomUUID();
  const livekit = await loadLiveKitClient();
  const people: Room[] = [];
  stack.defer(async () => {
    for (const room of people) await room.disconnect();
  });
  async function enter(identity: string, room: Room): Promise<Room> {
    const token = await tokenOf(identity, roomName);
    await room.connect(roomUrl, token, { autoSubscribe: true, dynacast: false });
    people.push(room);
    return room;
  }
  const listener = new livekit.Room();
  const pieces: HeardPiece[] = [];
  const subscribed = Promise.withResolvers<void>();
  listener.on(livekit.RoomEvent.TrackSubscribed, (track) => {
    subscribed.resolve();
    void listen(new livekit.AudioStream(track, RATE_HZ, 1), pieces);
  });
  await enter("listener", listener);
  const token = await tokenOf("bot", roomName);
  const told = await tellTo((signal) => {
    const args = createRoomArguments({
      ...common,
      ...{ callData: null, signal, roomUrl, token, roomName, provider: "embedded", forwardCall: undefined },
    });
    setRoomAccess(args, {
      invitations: createInvitations(roomUrl, []),
      connectDeadlineMs: undefined,
      sipTrunk: undefined,
      isStandIn: false,
    });
    return args;
  }, options);
  stack.defer(() => told.transport.close());
  await within(subscribed.promise, 15_000, "bot in the room");
  const owned = stack.move();
  return {
    ...told,
    listener,
    join: (identity) => enter(identity, new livekit.Room()),
    heard: () => pieces,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function tokenOf(identity: string, room: string): Promise<string> {
  return signToken(
    { identity, video: { roomJoin: true, room, canPublish: true, canSubscribe: true, canPublishData: true } },
    KEY,
  );
}

async function listen(stream: AudioStream, pieces: HeardPiece[]): Promise<void> {
  for await (const { data, sampleRate } of stream as unknown as AsyncIterable<AudioFrame>)
    if (data.some((sample) => Math.abs(sample) > QUIET))
      pieces.push({ atMs: performance.now(), samples: Int16Array.from(data), sampleRateHz: sampleRate });
}
