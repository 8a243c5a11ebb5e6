import assert from "node:assert/strict";
import { test } from "node:test";
import type { WebSocket } from "ws";
import { within } from "../../../../../testing/wait.ts";
import { createCollectedLog } from "../../testing/collected-log.ts";
import { openSocketPair } from "../../testing/socket-pair.ts";
import type { EndReason } from "../../transports/session-hooks.ts";
import { createSessionTable } from "../session-table.ts";
import { tieToSocket } from "./socket-client.ts";

test("a client that says goodbye has left, one that does not is lost", async () => {
  const ways: [string, EndReason, (client: WebSocket) => void][] = [
    ["closes", "client-left", (client) => client.close(1000)],
    ["closes without a code", "client-left", (client) => client.close()],
    ["goes to another page", "client-left", (client) => client.close(1001)],
    ["vanishes", "client-lost", (client) => client.terminate()],
  ];
  for (const [what, expected, go] of ways) {
    await using pair = await openSocketPair();
    const session = createSessionTable(createCollectedLog().log).create({ transport: "websocket", body: {} });
    tieToSocket(session, pair.server);
    const ended = new Promise<unknown>((resolve) =>
      session.signal.addEventListener("abort", () => resolve(session.signal.reason.reason)),
    );
    go(pair.client);
    assert.equal(await within(ended, 5_000, "end of the session"), expected, what);
  }
});
