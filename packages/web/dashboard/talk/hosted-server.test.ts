import assert from "node:assert/strict";
import { test } from "node:test";
import { createHostedServer } from "./talk.ts";

test("a session is offered to where the service has it, with its own token", () => {
  const server = createHostedServer({ organization: "main", agent: "start-bot" });
  assert.equal(server.startUrl, "/v1/organizations/main/public/start-bot/start");
  assert.deepEqual(server.startRequest, { enableDefaultIceServers: true });
  const inNorth = createHostedServer({ organization: "main", agent: "bot", region: "eu-north" });
  assert.deepEqual(inNorth.startRequest, {
    enableDefaultIceServers: true,
    region: "eu-north",
    stayInRegion: true,
  });
  assert.deepEqual(server.offerTo?.({ sessionId: "a/b", sessionToken: "st_x" }), {
    url: "/v1/public/start-bot/sessions/a%2Fb/api/offer",
    headers: { authorization: "Bearer st_x" },
  });
  for (const odd of [undefined, null, {}, { sessionId: "a" }, { wsUrl: "ws://x", token: "t" }])
    assert.equal(server.offerTo?.(odd), undefined);
});
