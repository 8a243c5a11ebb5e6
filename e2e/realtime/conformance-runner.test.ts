import { conformance } from "../conformance/conformance.ts";
import { startRunnerProcess, type RunnerProcess } from "../harness/runner-process.ts";

conformance({
  name: "the runner",
  async open({ pageOrigin }) {
    await using stack = new AsyncDisposableStack(); // undoes a half-finished start
    const runner = stack.use(await startBot(pageOrigin));
    const strictRunner = stack.use(await startBot(pageOrigin, "--ws-auth", "token"));
    const owned = stack.move();
    return {
      startUrl: `${runner.url}/start`,
      tokenStartUrl: `${strictRunner.url}/start`,
      bareOfferUrl: `${runner.url}/api/offer`,
      async sessionEnded(sessionId, timeoutMs) {
        const line = new RegExp(`"sessionId":"${sessionId}","reason":"([a-z-]+)".*"msg":"session ended"`);
        const [, reason = ""] = await runner.printed(line, timeoutMs);
        return reason;
      },
      problems: async () => [runner, strictRunner].flatMap(problemsOf),
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  },
});

function startBot(pageOrigin: string, ...flags: string[]): Promise<RunnerProcess> {
  return startRunnerProcess({
    bot: "e2e/bots/conformance-bot.ts",
    flags: ["--allowed-origins", pageOrigin, ...flags],
    environment: { VOCALHOST_LOG_FORMAT: "json" },
  });
}

// On a busy machine Opus tries less hard, a client has to offer twice, and the log says so; nothing is wrong with the
// conversation.
const HARMLESS = ["opus complexity", "the machine is too busy"];

function problemsOf(runner: RunnerProcess): string[] {
  const lines = runner.output().split("\n");
  return lines.filter((line) => /"level":[4-9]0/.test(line) && !HARMLESS.some((text) => line.includes(text)));
}
