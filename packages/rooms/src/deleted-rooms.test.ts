import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { WebSocket } from "ws";
import { pause } from "../../../testing/wait.ts";
import { startRoomServer } from "./room-server.ts";
import { createDeletedRooms } from "./room-table.ts";
import { signToken } from "./tokens.ts";

const KEY = { apiKey: "key", apiSecret: "a secret of thirty-two characters" };

const grants = { identity: "alice", video: { roomJoin: true, room: "lobby" } };

for (const keepsDeletedClosed of [false, true])
  test(`a room that was deleted ${keepsDeletedClosed ? "stays closed for tokens from before" : "is opened again"}`, async () => {
    await using rooms = await startRoomServer({
      ...KEY,
      listen: { port: 0 },
      media: { udpPort: 0 },
      keepsDeletedClosed,
    });
    const validate = async (token: string): Promise<[number, string]> => {
      const answer = await fetch(`${rooms.url?.replace("ws", "http")}/rtc/validate?access_token=${token}`);
      return [answer.status, await answer.text()];
    };
    const token = await signToken(grants, KEY);
    const socket = new WebSocket(`${rooms.url}/rtc?access_token=${token}`);
    await once(socket, "message");
    await pause(1_100); // tokens count in seconds
    const closed = once(socket, "close");
    rooms.deleteRoom("lobby");
    await closed;
    assert.deepEqual(
      await validate(token),
      keepsDeletedClosed ? [404, "requested room does not exist"] : [200, "success"],
    );
    if (keepsDeletedClosed) {
      const again = new WebSocket(`${rooms.url}/rtc?access_token=${token}`);
      const [error] = (await once(again, "error")) as [Error];
      assert.match(error.message, /404/);
      assert.deepEqual(rooms.listRooms(), []);
    }
    assert.deepEqual(await validate(await signToken(grants, KEY)), [200, "success"]);
  });

test("only so many are remembered, and only for so long", () => {
  let nowMs = 1_000_000;
  const deleted = createDeletedRooms(() => nowMs);
  deleted.add("first");
  assert.equal(deleted.atS("first"), 1_000);
  nowMs += 6 * 3_600_000;
  deleted.add("second");
  assert.equal(deleted.atS("first"), undefined);
  for (let number = 0; number < 50_000; number += 1) deleted.add(`room ${number}`);
  assert.equal(deleted.atS("second"), undefined);
  assert.notEqual(deleted.atS("room 0"), undefined);
});
