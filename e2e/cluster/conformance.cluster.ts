// The released clients and bots that are pods. The browser reaches them at their own addresses, or through ports of their
// nodes where VOCALHOST_TEST_MEDIA_PORTS names some; through TURN is in `media.cluster.ts`.
import { readFileSync } from "node:fs";
import { conformance } from "../conformance/conformance.ts";
import { hostedTarget } from "../conformance/hosted-target.ts";
import { startServiceProcess } from "../harness/service-process.ts";
import { openTestCluster } from "./test-cluster.ts";

const BOT = new URL("../bots/conformance-bot.ts", import.meta.url);

conformance({
  name: "the hosted service with bots as pods",
  async open() {
    await using stack = new AsyncDisposableStack(); // undoes a half-finished start
    const cluster = stack.use(await openTestCluster());
    const image = await cluster.push(readFileSync(BOT, "utf8"));
    const service = stack.use(await startServiceProcess({ environment: cluster.settings() }));
    const target = await hostedTarget(service, {
      image,
      // Before callers come: where pods have their network cards on this machine, a browser minds those that appear.
      autoScaling: { minAgents: 4, maxAgents: 40 },
    });
    const owned = stack.move();
    return { ...target, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  },
});
