import { readFileSync } from "node:fs";
import { conformance } from "./conformance/conformance.ts";
import { startServiceProcess } from "./harness/service-process.ts";

const AGENT = "conformance";

conformance({
  name: "the hosted service",
  async open() {
    await using stack = new AsyncDisposableStack(); // undoes a half-finished start
    const service = stack.use(await startServiceProcess());
    const bot = readFileSync(new URL("bots/conformance-bot.ts", import.meta.url), "utf8");
    // A page that closes says no goodbye; its session holds its instance until the silence is noticed.
    const autoScaling = { minAgents: 2, maxAgents: 40 };
    await service.deploy({ name: AGENT, files: { "bot.ts": bot }, autoScaling });
    const owned = stack.move();
    const startUrl = `${service.apiUrl}/public/${AGENT}/start`;
    return {
      startUrl,
      tokenStartUrl: startUrl,
      headers: { authorization: `Bearer ${service.publicKey}` },
      sessionEnded: (sessionId, timeoutMs) => service.sessionEnded(sessionId, timeoutMs),
      async problems() {
        const ofService = service
          .output()
          .split("\n")
          .filter((line) => /"level":[4-9]0/.test(line));
        const { logs } = await service.api.agents.logs(AGENT, { limit: 1_000 });
        const lines = logs.map(({ log }) => log).reverse(); // newest first
        const ofBots = lines
          .map((line, at) => `${line} ${lines[at + 1] ?? ""}`) // an error's own words follow it
          .filter((line) => /^\S+ (?:warn|error)\b/i.test(line));
        return [...ofService, ...ofBots].filter((line) => !HARMLESS.some((text) => line.includes(text)));
      },
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  },
});

// On a busy machine Opus tries less hard and a client has to offer twice, and as root the service says that bots share its
// user: nothing is wrong with the conversation.
const HARMLESS = ["opus complexity", "the machine is too busy", "run as the service's own user"];
