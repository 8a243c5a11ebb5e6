import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { within } from "../../../../testing/wait.ts";
import { WebSocket } from "ws";
import { createCollectedLog } from "../testing/collected-log.ts";
import { createSessionApp } from "./session-app.ts";

test("an upgrade to an unreadable path is refused, and holds nothing open", async () => {
  const { app } = await createSessionApp(createCollectedLog().log);
  await app.listen({ host: "127.0.0.1", port: 0 });
  for (const path of ["/ws/%%%", "http://%%/ws"]) {
    const client = connect({
      host: "127.0.0.1",
      port: (app.server.address() as AddressInfo).port,
      allowHalfOpen: true,
    });
    client.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    assert.match(await within(text(client), 5_000, "end of the connection"), /^HTTP\/1\.1 404 [^]*NOT_FOUND/);
    client.end();
    await once(client, "close");
  }
  await within(app.close(), 5_000, "end of the server");
});

test("a client that does not answer its goodbye is not waited for without end", async () => {
  const { app } = await createSessionApp(createCollectedLog().log);
  app.get("/open", { websocket: true }, () => undefined);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const client = new WebSocket(`ws://127.0.0.1:${(app.server.address() as AddressInfo).port}/open`);
  await once(client, "open");
  client.pause();
  const closed = app.close().then(() => "closed");
  assert.equal(await Promise.race([closed, pause(20_000, "still open", { ref: false })]), "closed");
  client.terminate();
});
