import { readFileSync } from "node:fs";
import { size } from "../../testing/sizes.ts";
import { conformance } from "../conformance/conformance.ts";
import { hostedTarget } from "../conformance/hosted-target.ts";
import { startServiceProcess } from "../harness/service-process.ts";

conformance({
  name: "the hosted service",
  isWhole: size(false, true), // the runner answers for what both have in common
  async open() {
    await using stack = new AsyncDisposableStack(); // undoes a half-finished start
    const service = stack.use(await startServiceProcess());
    const bot = readFileSync(new URL("../bots/conformance-bot.ts", import.meta.url), "utf8");
    // A page that closes does not hang up; its session holds its instance until the silence is noticed.
    const autoScaling = { minAgents: 2, maxAgents: 40 };
    const target = await hostedTarget(service, { files: { "bot.ts": bot }, autoScaling });
    const owned = stack.move();
    return { ...target, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  },
});
