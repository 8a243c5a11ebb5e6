import {
  CreateRoomRequest,
  DataPacket_Kind,
  DeleteRoomRequest,
  DeleteRoomResponse,
  DisconnectReason,
  LeaveRequest_Action,
  ListParticipantsRequest,
  ListParticipantsResponse,
  ListRoomsRequest,
  ListRoomsResponse,
  MuteRoomTrackRequest,
  MuteRoomTrackResponse,
  MuteTrackRequest,
  RemoveParticipantResponse,
  RoomParticipantIdentity,
  SendDataRequest,
  SendDataResponse,
  PerformRpcRequest,
  PerformRpcResponse,
  UpdateSubscriptionsRequest,
  UpdateSubscriptionsResponse,
  UpdateParticipantRequest,
  UpdateRoomMetadataRequest,
} from "@livekit/protocol";
import { serverPacket } from "./data-packets.ts";
import { fromJson, type MessageType } from "./from-json.ts";
import { chooseTracks } from "./handle-request.ts";
import type { Participant } from "./participant.ts";
import { changeProfile } from "./profile.ts";
import { callParticipant } from "./remote-calls.ts";
import type { Room } from "./room.ts";
import type { RoomTable } from "./room-table.ts";
import { ServiceError } from "./service-error.ts";
import { USE_LIVEKIT } from "./settings.ts";
import type { Grants } from "./tokens.ts";

interface Call {
  isJson: boolean;
  table: RoomTable;
  grants: Grants | undefined;
}

interface Answer {
  toBinary(): Uint8Array;
  toJsonString(options: { emitDefaultValues: boolean; useProtoFieldName: boolean }): string;
}

type Method = (body: Buffer, call: Call) => Answer | Promise<Answer>;

/** The methods of the room service by name. */
export const ROOM_METHODS: Record<string, Method> = {
  CreateRoom: method(CreateRoomRequest, (request, { table, grants }) => {
    requireGrant(grants?.video?.roomCreate);
    return createRoom(table, request).info();
  }),
  ListRooms: method(ListRoomsRequest, ({ names }, { table, grants }) => {
    requireGrant(grants?.video?.roomList);
    const rooms = [...table.rooms.values()].filter(({ name }) => names.length === 0 || names.includes(name));
    return new ListRoomsResponse({ rooms: rooms.map((room) => room.info()) });
  }),
  DeleteRoom: method(DeleteRoomRequest, ({ room }, { table, grants }) => {
    requireGrant(grants?.video?.roomCreate);
    const isThere = table.rooms.has(room);
    table.delete(room);
    if (!isThere) throw noRoom();
    return new DeleteRoomResponse();
  }),
  ListParticipants: method(ListParticipantsRequest, ({ room }, { table, grants }) => {
    requireAdmin(grants, room);
    const participants = [...(table.rooms.get(room)?.participants.values() ?? [])];
    return new ListParticipantsResponse({
      participants: participants.map((participant) => participant.info()),
    });
  }),
  GetParticipant: method(RoomParticipantIdentity, (request, { table, grants }) => {
    requireAdmin(grants, request.room);
    return findParticipant(table, request).participant.info();
  }),
  RemoveParticipant: method(RoomParticipantIdentity, (request, { table, grants }) => {
    requireAdmin(grants, request.room);
    const { room, participant } = findParticipant(table, request);
    room.remove(participant, {
      reason: DisconnectReason.PARTICIPANT_REMOVED,
      tell: LeaveRequest_Action.DISCONNECT,
    });
    return new RemoveParticipantResponse();
  }),
  MutePublishedTrack: method(MuteRoomTrackRequest, (request, { table, grants }) => {
    requireAdmin(grants, request.room);
    return muteTrack(table, request);
  }),
  UpdateParticipant: method(UpdateParticipantRequest, (request, { table, grants }) => {
    requireAdmin(grants, request.room);
    return updateParticipant(table, request).info();
  }),
  SendData: method(SendDataRequest, (request, { table, grants }) => {
    requireAdmin(grants, request.room);
    return sendData(findRoom(table, request.room), request);
  }),
  UpdateSubscriptions: method(UpdateSubscriptionsRequest, (request, { table, grants }) => {
    requireAdmin(grants, request.room);
    const { room, participant } = findParticipant(table, request);
    chooseTracks(room, participant, request);
    return new UpdateSubscriptionsResponse();
  }),
  PerformRpc: method(PerformRpcRequest, async (request, { table, grants }) => {
    const { room: name, destinationIdentity: identity } = request;
    requireAdmin(grants, name);
    const { room, participant } = findParticipant(table, { room: name, identity });
    return new PerformRpcResponse({ payload: await callParticipant(room, { participant, request }) });
  }),
  UpdateRoomMetadata: method(UpdateRoomMetadataRequest, ({ room: name, metadata }, { table, grants }) => {
    requireAdmin(grants, name);
    requireMetadataSize(table, metadata);
    const room = findRoom(table, name);
    room.setProperties({ metadata });
    room.broadcastRoom();
    return room.info();
  }),
};

function method<M extends Answer>(
  type: MessageType<M>,
  run: (request: M, call: Call) => Answer | Promise<Answer>,
): Method {
  return (body, call) => run(parse(type, body, call.isJson), call);
}

function parse<M extends Answer>(type: MessageType<M>, body: Buffer, isJson: boolean): M {
  try {
    return isJson ? fromJson(type, body) : type.fromBinary(body);
  } catch (error) {
    throw new ServiceError(
      "malformed",
      `the ${isJson ? "json" : "protobuf"} request could not be decoded`,
      error,
    );
  }
}

/** The room of that name, made if there is none. Throws {@link ServiceError}. */
export function createRoom(table: RoomTable, request: CreateRoomRequest): Room {
  const { limits } = table.settings;
  const { name } = request;
  if (name === "") throw new ServiceError("invalid_argument", "no room name");
  if (name.length > limits.nameCharacters)
    throw new ServiceError(
      "invalid_argument",
      `room name length exceeds limits: max length ${limits.nameCharacters}`,
    );
  requireMetadataSize(table, request.metadata);
  if (request.agents.length > 0) throw notHere("agent dispatch: CreateRoom cannot bring agents");
  if (request.egress) throw notHere("egress: CreateRoom cannot begin a recording");
  if (!table.rooms.has(name) && table.rooms.size >= limits.rooms)
    throw new ServiceError("resource_exhausted", `this server has its ${limits.rooms} rooms; ${USE_LIVEKIT}`);
  const room = table.open(name);
  room.setProperties({
    ...(request.emptyTimeout > 0 ? { emptyTimeoutS: request.emptyTimeout } : {}),
    ...(request.departureTimeout > 0 ? { departureTimeoutS: request.departureTimeout } : {}),
    ...(request.maxParticipants > 0 ? { maxParticipants: request.maxParticipants } : {}),
    ...(request.metadata !== "" ? { metadata: request.metadata } : {}),
  });
  return room;
}

function muteTrack(table: RoomTable, request: MuteRoomTrackRequest): MuteRoomTrackResponse {
  const { room, participant } = findParticipant(table, request);
  const track = participant.publishing.tracks.get(request.trackSid);
  if (!track) throw new ServiceError("not_found", "track is not found");
  if (!request.muted && track.info.muted)
    throw new ServiceError("failed_precondition", "remote unmute not enabled");
  if (request.muted && !track.info.muted) {
    track.info.muted = true;
    room.media({ type: "set-muted", track: request.trackSid, muted: true });
    participant.send({ case: "mute", value: new MuteTrackRequest({ sid: request.trackSid, muted: true }) });
    room.broadcastInfo(participant);
  }
  return new MuteRoomTrackResponse({ track: track.info });
}

function updateParticipant(table: RoomTable, request: UpdateParticipantRequest): Participant {
  const { room, participant } = findParticipant(table, request);
  if (!changeProfile(participant, request, table.settings.limits))
    throw new ServiceError("invalid_argument", "name, metadata or attributes exceed the limits");
  if (request.permission) {
    participant.permission = request.permission;
    if (!request.permission.canPublish) withdrawTracks(room, participant);
  }
  room.broadcastInfo(participant);
  room.syncSubscriptions();
  return participant;
}

function withdrawTracks(room: Room, { publishing }: Participant): void {
  for (const track of publishing.tracks.keys()) room.media({ type: "unpublish", track });
  publishing.tracks.clear();
  publishing.announced.clear();
}

function sendData(room: Room, request: SendDataRequest): SendDataResponse {
  const { dataBytes } = room.settings.limits;
  const { data, topic, destinationIdentities: identities, destinationSids: sids, nonce } = request;
  if (nonce.length !== 0 && nonce.length !== 16)
    throw new ServiceError(
      "invalid_argument",
      `nonce should be 16-bytes or not present, got: ${nonce.length} bytes`,
    );
  const kind = request.kind === DataPacket_Kind.LOSSY ? "lossy" : "reliable";
  const packet = serverPacket({ data, topic, kind, identities, sids, nonce }, room.participants.values());
  if (packet.bytes.length > dataBytes)
    throw new ServiceError("invalid_argument", `data is larger than ${dataBytes} bytes`);
  const peers = packet.destinations.map(({ sid }) => sid);
  room.media({ type: "send-data", peers, kind, bytes: packet.bytes });
  return new SendDataResponse();
}

/** Methods that only a LiveKit server has. */
export function notHere(what: string): ServiceError {
  return new ServiceError(
    "unimplemented",
    `this room server has no ${what}; configure a LiveKit server (LIVEKIT_URL)`,
  );
}

function findRoom(table: RoomTable, name: string): Room {
  const room = table.rooms.get(name);
  if (!room) throw noRoom();
  return room;
}

function noRoom(): ServiceError {
  return new ServiceError("not_found", "requested room does not exist");
}

function findParticipant(
  table: RoomTable,
  { room: name, identity }: { room: string; identity: string },
): { room: Room; participant: Participant } {
  const room = table.rooms.get(name);
  const participant = room?.participants.get(identity);
  if (!room || !participant) throw new ServiceError("not_found", "participant does not exist");
  return { room, participant };
}

function requireGrant(granted: boolean | undefined): void {
  if (!granted) throw new ServiceError("unauthenticated", "permissions denied");
}

function requireAdmin(grants: Grants | undefined, room: string): void {
  requireGrant(grants?.video?.roomAdmin === true && grants.video.room === room);
}

function requireMetadataSize({ settings }: RoomTable, metadata: string): void {
  if (Buffer.byteLength(metadata) > settings.limits.metadataBytes)
    throw new ServiceError("invalid_argument", "metadata size exceeds limits");
}
