import assert from "node:assert/strict";
import { CAPABILITIES } from "../../bots/conformance-bot.ts";
import { testCase } from "../case.ts";
import type { Line } from "../line.ts";

const STATES = ["authenticating", "authenticated", "connecting", "connected", "ready"];

export function connectingCases(line: Line): void {
  testCase("the client becomes ready and is told the protocol version", async (context) => {
    const caller = await line.openCaller(context, { body: { mode: "quiet" } });
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

  testCase("the start body reaches the bot, which is called once", async (context) => {
    const caller = await line.call(context, { mode: "quiet" });
    const report = await caller.report();
    assert.deepEqual(report.body, caller.startBody);
    assert.equal(report.kind, line.transport);
    assert.equal(report.calls, 1);
    assert.match(report.sessionId, /^[0-9a-f-]{36}$/);
  });

  testCase("a bot that takes its time to start still meets its client", async (context) => {
    const caller = await line.call(context, { mode: "slow-start" });
    const { greetings } = await caller.report();
    assert.equal(greetings, 1);
  });

  testCase("two clients at once have conversations of their own", async (context) => {
    const callers = await Promise.all([1, 2].map(() => line.call(context, { mode: "quiet" })));
    const reports = await Promise.all(callers.map((caller) => caller.report()));
    assert.deepEqual(
      reports.map((report) => report.body),
      callers.map((caller) => caller.startBody),
    );
    assert.notEqual(reports[0]?.sessionId, reports[1]?.sessionId);
  });

  testCase("the client tells why a start was refused", async (context) => {
    const caller = await line.openCaller(context, { body: {} });
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
  });

  if (line.transport === "websocket")
    testCase("a token from the start opens the socket", async (context) => {
      const { tokenStartUrl } = line.target();
      if (!tokenStartUrl) return context.skip("this service has no tokens");
      const caller = await line.openCaller(context, { body: { mode: "quiet" }, startUrl: tokenStartUrl });
      await caller.connect();
      const [answer] = await caller.events<{ token?: string }>("botStarted");
      assert(answer?.token, "the start gave no token");
      assert.deepEqual((await caller.report()).body, caller.startBody);
      return undefined;
    });
}
