import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { connectingCases } from "./cases/connecting.ts";
import { conversationCases } from "./cases/conversation.ts";
import { offerCases } from "./cases/offers.ts";
import { reconnectingCases } from "./cases/reconnecting.ts";
import type { Line } from "./line.ts";
import { openStage, type Stage } from "./stage.ts";
import type { TargetDefinition } from "./target.ts";

/** Declares the tests that hold a service against the released npm clients in a real browser. */
export function conformance(
  definition: TargetDefinition,
  { skip = false }: { skip?: string | false } = {},
): void {
  describe(`released clients and ${definition.name}`, { skip }, () => {
    let stage: Stage | undefined;
    before(async () => {
      stage = await openStage(definition);
    });
    after(() => stage?.[Symbol.asyncDispose]());
    const lineOver = (transport: Line["transport"]): Line => createLine(transport, () => opened(stage));

    // The lines side by side, because cases mostly wait; each line one case at a time.
    describe("in a browser", { concurrency: 2 }, () => {
      const { isWhole = true } = definition;
      for (const line of [lineOver("webrtc"), lineOver("websocket")])
        describe(`over ${line.transport}`, { concurrency: 1 }, () => {
          if (isWhole) connectingCases(line);
          conversationCases(line, { isWhole });
          if (isWhole && line.transport === "webrtc") offerCases(line);
        });
      if (isWhole)
        describe("when the network is lost", { concurrency: 2 }, () => reconnectingCases(lineOver("webrtc")));
    });

    test("the service had nothing to complain about", async () => {
      assert.deepEqual(await opened(stage).target.problems(), []);
    });
  });
}

function createLine(transport: Line["transport"], stage: () => Stage): Line {
  const line: Line = {
    transport,
    target: () => stage().target,
    openCaller: (context, options) => stage().openCaller(context, { transport, ...options }),
    async call(context, body) {
      const caller = await line.openCaller(context, { body });
      await caller.connect();
      return caller;
    },
  };
  return line;
}

function opened(stage: Stage | undefined): Stage {
  assert(stage, "the stage is not open");
  return stage;
}
