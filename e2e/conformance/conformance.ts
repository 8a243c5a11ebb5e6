import assert from "node:assert/strict";
import { after, before, describe, test, type TestContext } from "node:test";
import { connectingCases } from "./cases/connecting.ts";
import { conversationCases } from "./cases/conversation.ts";
import { offerCases } from "./cases/offers.ts";
import { reconnectingCases } from "./cases/reconnecting.ts";
import type { Line } from "./line.ts";
import type { TargetDefinition, Target } from "./target.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launchChromium } from "../harness/chromium.ts";
import { startClientPages } from "../harness/client-pages.ts";
import { openCaller, type Caller, type CallerOptions } from "./caller.ts";
import { writeMicrophoneFile } from "./microphone.ts";

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

/** A service, a browser with a known tone for a microphone, and a page with the released clients. */
interface Stage extends AsyncDisposable {
  readonly target: Target;
  openCaller(test: TestContext, options: CallerOptions): Promise<Caller>;
}

const PAGE_FOLDER = fileURLToPath(new URL("./page/", import.meta.url));

async function openStage(definition: TargetDefinition): Promise<Stage> {
  await using stack = new AsyncDisposableStack(); // undoes a half-finished start
  const folder = await mkdtemp(join(tmpdir(), "conformance-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const microphone = join(folder, "microphone.wav");
  await writeMicrophoneFile(microphone);
  const pages = stack.use(await startClientPages(PAGE_FOLDER));
  const target = stack.use(await definition.open({ pageOrigin: pages.origin }));
  const browser = await launchChromium({ microphone });
  stack.defer(() => browser.close());
  const owned = stack.move();
  return {
    target,
    openCaller: (test, options) => openCaller(test, { browser, pageOrigin: pages.origin, target }, options),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
