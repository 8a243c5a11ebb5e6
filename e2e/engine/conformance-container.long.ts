import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { requireBaseImage } from "../../testing/base-image.ts";
import { startContainerEngine } from "../../testing/container-engine.ts";
import { conformance } from "../conformance/conformance.ts";
import { hostedTarget } from "../conformance/hosted-target.ts";
import { startServiceProcess } from "../harness/service-process.ts";
import { freeUdpPorts } from "../harness/udp-ports.ts";

const PORTS = 60;

// Callers reach the bots as they would from elsewhere: through ports that the engine publishes at the machine's address.
conformance({
  name: "the hosted service with bots in containers",
  async open() {
    await using stack = new AsyncDisposableStack(); // undoes a half-finished start
    const { images } = await requireBaseImage();
    const engine = stack.use(await startContainerEngine());
    const first = await freeUdpPorts(PORTS);
    const service = stack.use(
      await startServiceProcess({
        environment: {
          ...engine.settings,
          VOCALHOST_BASE_IMAGES: images.folder,
          VOCALHOST_MEDIA_PORTS: `${first}-${first + PORTS - 1}`,
          VOCALHOST_MEDIA_ADDRESS: ownAddress(),
        },
      }),
    );
    const bot = readFileSync(new URL("../bots/conformance-bot.ts", import.meta.url), "utf8");
    const target = await hostedTarget(service, {
      files: { "bot.ts": bot },
      // One for each caller, before they come: a browser minds network cards that appear while it asks for something.
      autoScaling: { minAgents: 2, maxAgents: 40 },
    });
    const owned = stack.move();
    return { ...target, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  },
});

function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}
