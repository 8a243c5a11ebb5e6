import { isAppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RoomProvider } from "../providers/room-provider.ts";

/** A provider, and how a room of its keeps its door. */
export interface ProviderUnderTest {
  provider: RoomProvider;
  /** Whether that room's door opens to this token, and whether its bearer owns the room. */
  tryToken(url: string, token: string): Promise<{ opens: string | undefined; isOwner: boolean }>;
  /** Whether there is such a room now. */
  exists(name: string): Promise<boolean>;
}

/** The contract of every room provider. */
export function providerContract(name: string, open: () => ProviderUnderTest): void {
  test(`${name}: a room has a name of its own that begins as wanted, and an address`, async () => {
    const { provider, exists } = open();
    const rooms = await Promise.all([1, 2, 3].map(() => provider.createRoom({ prefix: "parrot" })));
    assert.equal(new Set(rooms.map((room) => room.name)).size, 3);
    for (const { name: made, url, botUrl } of rooms) {
      assert.match(made, /^parrot-[0-9a-f]{32}$/);
      assert.match(url, /^(?:wss?|https):\/\//);
      assert.match(botUrl, /^(?:wss?|https):\/\//);
      assert.ok(await exists(made));
    }
    for (const room of rooms) await provider.deleteRoom(room.name);
  });

  test(`${name}: the bot owns the room, its client does not, and a token opens no other room`, async () => {
    const { provider, tryToken } = open();
    const { name: room, botUrl } = await provider.createRoom({ prefix: "parrot" });
    const bot = await provider.issueToken({ room, identity: "Bot-1", isBot: true });
    const client = await provider.issueToken({ room, identity: "User-1", isBot: false });
    assert.notEqual(bot, client);
    assert.deepEqual(await tryToken(botUrl, bot), { opens: room, isOwner: true });
    assert.deepEqual(await tryToken(botUrl, client), { opens: room, isOwner: false });
    const tampered = `${client.slice(0, -4)}AAAA`;
    assert.equal((await tryToken(botUrl, tampered)).opens, undefined);
    await provider.deleteRoom(room);
  });

  test(`${name}: a token shows the room it is for, and nothing else does`, async () => {
    const { provider, tryToken } = open();
    const made = await provider.createRoom({ prefix: "parrot" });
    const token = await provider.issueToken({ room: made.name, identity: "User-1", isBot: false });
    assert.deepEqual(await provider.findRoom(token), made);
    for (const wrong of [`${token.slice(0, -4)}AAAA`, "not.a.token", "../rooms", ""])
      assert.equal(await provider.findRoom(wrong), undefined, wrong);
    const guest = { room: made.name, identity: "Bot-2", isBot: true, isGuest: true };
    const opened = await tryToken(made.botUrl, await provider.issueToken(guest));
    assert.deepEqual(opened, { opens: made.name, isOwner: false });
    await provider.deleteRoom(made.name);
  });

  test(`${name}: a deleted room is gone, and deleting it again is no error`, async () => {
    const { provider, exists } = open();
    const { name: room } = await provider.createRoom({ prefix: "parrot" });
    await provider.deleteRoom(room);
    assert.equal(await exists(room), false);
    await provider.deleteRoom(room);
  });

  test(`${name}: properties nobody knows are refused by name`, async () => {
    const { provider } = open();
    const wrong = { prefix: "parrot", properties: { colour: "red" } };
    await assert.rejects(provider.createRoom(wrong), refusedAs("INVALID_REQUEST", /colour/));
    const token = { room: "parrot-1", identity: "a", isBot: false, properties: { roomAdmin: true } };
    await assert.rejects(provider.issueToken(token), refusedAs("INVALID_REQUEST", /roomAdmin/));
  });
}

export function refusedAs(code: string, message: RegExp): (error: unknown) => true {
  return (error) => {
    assert.ok(isAppError(error), String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  };
}
