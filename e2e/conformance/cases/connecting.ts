import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { BOT_TONE_HZ, CAPABILITIES } from "../../bots/conformance-bot.ts";
import type { Caller } from "../caller.ts";
import { testCase } from "../case.ts";
import type { Line } from "../line.ts";
import { MICROPHONE_TONE_HZ } from "../microphone.ts";

const STATES = ["authenticating", "authenticated", "connecting", "connected", "ready"];

export function connectingCases(line: Line): void {
  testCase("two clients at once", async (context) => {
    // The WebRTC client sends candidates with its offer; the WebSocket client has none.
    const options = { body: { mode: "echo" }, waitForIceGathering: true } as const;
    const echo = await line.openCaller(context, options);
    const [singer] = await Promise.all([line.call(context, { mode: "eager-tone" }), echo.connect()]);
    await context.test("have conversations of their own", async () => {
      const callers = [echo, singer];
      const reports = await Promise.all(callers.map((caller) => caller.report()));
      assert.deepEqual(
        reports.map((report) => report.body),
        callers.map((caller) => caller.startBody),
      );
      assert.deepEqual(
        reports.map((report) => report.calls),
        [1, 1],
      );
      assert.notEqual(reports[0]?.sessionId, reports[1]?.sessionId);
    });
    await context.test("a bot may speak before its client is there", async () => {
      await singer.hears(BOT_TONE_HZ);
    });
    await context.test(
      "the microphone comes back from an echoing bot, also to who waits for candidates",
      async () => {
        await echo.hears(MICROPHONE_TONE_HZ);
        await echo.botHears(MICROPHONE_TONE_HZ);
      },
    );
  });

  testCase("a start that was refused and one that takes its time", async (context) => {
    const { tokenStartUrl } = line.target();
    const isTokenTried = line.transport === "websocket" && tokenStartUrl !== undefined;
    const startUrl = isTokenTried ? { startUrl: tokenStartUrl } : {};
    const caller = await line.openCaller(context, { body: { mode: "slow-start" }, ...startUrl });
    await context.test("the client tells why a start was refused", () => refuse(caller, line));
    await context.test("a bot that takes its time to start still meets its client", async () => {
      await caller.connect();
      assert.equal((await caller.report()).greetings, 1);
    });
    if (line.transport !== "websocket") return;
    await context.test("a token from the start opens the socket", async (step) => {
      if (!isTokenTried) return step.skip("this service has no tokens");
      const [answer] = await caller.events<{ token?: string }>("botStarted");
      assert(answer?.token, "the start gave no token");
      assert.deepEqual((await caller.report()).body, caller.startBody);
      return undefined;
    });
  });
}

async function refuse(caller: Caller, line: Line): Promise<void> {
  const { startUrl, headers = {} } = line.target();
  const reason = await caller.page.evaluate(
    ([endpoint, sent]) =>
      window.callerPage.client
        .startBotAndConnect({
          endpoint,
          headers: new Headers(sent),
          requestData: { transport: "carrier-pigeon" },
        })
        .then(
          () => "not refused",
          (error: Error) => error.message,
        ),
    [startUrl, headers] as const,
  );
  assert.match(reason, /carrier-pigeon/);
}

/** Steps of a caller that has not connected yet. */
export async function connectingSteps(context: TestContext, line: Line, caller: Caller): Promise<void> {
  await context.test("the client becomes ready and is told the protocol version", async () => {
    const ready = await caller.connect();
    assert.equal(ready.version, "2.2.0");
    const { capabilities } = ready as { capabilities?: unknown };
    assert.deepEqual(capabilities, CAPABILITIES);
    assert.equal(await caller.state(), "ready");
    const states = await caller.events<string>("transportStateChanged");
    assert.deepEqual(
      states.filter((state) => STATES.includes(state)),
      STATES,
    );
    assert.deepEqual(await caller.events("error"), []);
  });

  await context.test("the start body reaches the bot, which is called once", async () => {
    const report = await caller.report();
    assert.deepEqual(report.body, caller.startBody);
    assert.equal(report.kind, line.transport);
    assert.equal(report.calls, 1);
    assert.match(report.sessionId, /^[0-9a-f-]{36}$/);
  });
}
