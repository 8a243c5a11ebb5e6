import { AppError, type Connect } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrganizationId } from "../../identity/principal.ts";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { NO_PREFERENCE } from "../choose-region.ts";
import { addWarmAgent, prepareOrganization, starterOn } from "../testing/warm-pools.ts";
import type { MadeSessionRoom } from "./door.ts";
import { createSessionDoors } from "./session-doors.ts";

eachStore((open) => {
  test("a start that fails closes its room, and never that of a session that goes on", async () => {
    await using store = await open();
    const organizationId = await prepareOrganization(store);
    await addWarmAgent(store, organizationId, { id: "agent", name: "parrot", maxAgents: 1 });
    const none = () => Promise.reject(new Error("There is none"));
    const closed: string[] = [];
    const doors = createSessionDoors({
      admit: none,
      starter: starterOn(store, new Map()),
      signer: { secret: "0123456789abcdef" },
      iceServersOf: () => [],
      queueMs: 0,
      instanceToken: () => "",
      callbackUrl: "",
      rooms: {
        require: async () => undefined,
        ...{ readCall: none, forwardCall: none, close: none },
        make: async ({ mark }) => roomNamed(`vocalhost-${mark ?? "new"}`, closed),
        readReady: async () => undefined,
      },
      dialling: { takesPublicKeys: false, accountsOf: none },
    });
    await doors.start(startOf(organizationId, { key: "call", body: { at: 1 } }));
    await assert.rejects(
      doors.start(startOf(organizationId, { key: "call", body: { at: 2 } })),
      (error) => error instanceof AppError && error.status === 409,
    );
    assert.deepEqual(closed, [], "its session goes on");
    await assert.rejects(doors.start(startOf(organizationId, { key: undefined, body: {} })));
    assert.deepEqual(closed, ["vocalhost-new"]);
  });
});

function roomNamed(name: string, closed: string[]): MadeSessionRoom {
  const connect: Extract<Connect, { kind: "room" }> = {
    ...{ kind: "room", provider: "embedded", roomName: name, guestTokens: [], token: "bot" },
    ...{ roomUrl: "ws://127.0.0.1:1", clientUrl: "ws://127.0.0.1:1" },
  };
  return {
    name,
    connectIn: () => connect,
    answer: (sessionId) => ({ sessionId, roomUrl: connect.clientUrl, token: "client" }),
    close: async () => void closed.push(name),
  };
}

function startOf(
  organizationId: OrganizationId,
  { key, body }: { key: string | undefined; body: object },
): Parameters<ReturnType<typeof createSessionDoors>["start"]>[0] {
  return {
    principal: { kind: "user", userId: "u", email: "", role: "owner", organizationId },
    address: "192.0.2.1",
    ...{ agentName: "parrot", transport: "room", body, enableDefaultIceServers: false },
    room: { requested: "room", roomProperties: undefined, tokenProperties: undefined, token: undefined },
    region: NO_PREFERENCE,
    dialout: undefined,
    idempotencyKey: key,
    wsBase: "",
  };
}
