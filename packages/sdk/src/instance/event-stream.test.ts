import type { InstanceStatus } from "@vocalhost/protocol";
import Fastify from "fastify";
import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { until } from "../../../../testing/wait.ts";
import { createEventStream } from "./event-stream.ts";

test("minor changes are published together, and not before important ones", async () => {
  const events = createEventStream(() => undefined);
  await using app = Fastify();
  app.get("/", (_request, reply) => events.open(reply, status(0)));
  await app.listen({ host: "127.0.0.1", port: 0 });
  const asked = request({ port: (app.server.address() as AddressInfo).port }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const told: number[] = [];
  createInterface({ input: response }).on("line", (line) =>
    told.push((JSON.parse(line) as { status: InstanceStatus }).status.cpuMs),
  );
  let now = 1;
  events.publishSoon(() => status(now));
  events.publishSoon(() => assert.fail("it is told already"));
  now = 2;
  await until(() => told.length === 2, 5_000, "news");
  assert.deepEqual(told, [0, 2], "as it is when it is told");
  events.publishSoon(() => assert.fail("the end has told it"));
  events.publish(status(3));
  await events.end();
  await until(() => response.readableEnded, 5_000, "end");
  assert.deepEqual(told, [0, 2, 3]);
});

function status(cpuMs: number): InstanceStatus {
  return { instanceId: "i", epoch: 1, ready: true, session: null, cpuMs, memoryBytes: 0 };
}
