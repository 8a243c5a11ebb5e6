import { after, before } from "node:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commitBot, loadBotImage } from "../../../../testing/bot-image.ts";
import { startContainerEngine, type ContainerEngine } from "../../../../testing/container-engine.ts";
import { silentLog } from "../log.ts";
import { driverContract, type DriverHarness } from "../testing/driver-contract.ts";
import { openContainerDriver } from "./container.ts";

let engine: ContainerEngine;
let base: string;

before(async () => {
  engine = await startContainerEngine();
  base = await loadBotImage(engine.docker);
});
after(() => engine[Symbol.asyncDispose]());

driverContract("container", start);

async function start(): Promise<DriverHarness & { folder: string }> {
  const temporary = mkdtempSync(join(tmpdir(), "container-driver-"));
  const folder = join(temporary, "instances");
  const { socket, network } = engine;
  const opened = new AsyncDisposableStack();
  const open = async () => opened.use(await openContainerDriver({ folder, socket, network, log: silentLog }));
  return {
    folder,
    open,
    async source(bot) {
      return { kind: "image", reference: await commitBot(engine.docker, base, bot), pullSecret: undefined };
    },
    async [Symbol.asyncDispose]() {
      const { driver } = await open();
      await driver.fence(1e9);
      for (const { id } of await driver.list()) {
        await driver.destroy(id, { graceMs: 0 });
        await driver.forget(id);
      }
      await opened.disposeAsync();
      rmSync(temporary, { recursive: true, force: true });
    },
  };
}
