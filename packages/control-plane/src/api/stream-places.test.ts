import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { test } from "node:test";
import type { OrganizationId } from "../identity/principal.ts";
import { createPlaces } from "./stream-places.ts";

const ORG = "org-1" as OrganizationId;

test("so many at once and no more, and a place is free again", () => {
  const places = createPlaces({ max: 1, refusal: "full" });
  {
    using _place = places.take(ORG);
    assert.throws(() => places.take(ORG), { code: "SERVICE_UNAVAILABLE", message: "full" });
  }
  places.take(ORG);
});

test("one organisation leaves half of them to others", () => {
  const places = createPlaces({ max: 4, refusal: "full" });
  const other = "org-2" as OrganizationId;
  const own = [places.take(ORG), places.take(ORG)];
  assert.throws(() => places.take(ORG), { message: "full" });
  for (let count = 0; count < 2; count += 1) places.take(other);
  assert.throws(() => places.take("org-3" as OrganizationId), { message: "full" });
  own[0]?.[Symbol.dispose]();
  places.take(ORG);
});

test(
  "a visitor who leaves gives the place back, whether before or after taking it",
  { timeout: 10_000 },
  async () => {
    const places = createPlaces({ max: 1, refusal: "full" });
    const taken: string[] = [];
    await using server = createServer((request, answer) => {
      void (request.url === "/late" ? once(answer, "close") : Promise.resolve()).then(() => {
        const signal = places.takeFor(ORG, answer);
        taken.push(signal.aborted ? "gone" : "there");
        answer.once("close", () => taken.push(signal.aborted ? "gone" : "there"));
        answer.write("x");
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    for (const path of ["/late", "/late", "/early"]) {
      const socket = connect(port, "127.0.0.1");
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      const request = once(server, "request");
      if (path === "/early") await once(socket, "data");
      await request.then(
        () => undefined,
        () => undefined,
      );
      socket.destroy();
      await once(socket, "close");
    }
    while (taken.length < 4) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(taken, ["gone", "gone", "there", "gone"]);
  },
);
