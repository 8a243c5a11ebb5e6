// The controller's process: owns the store and decides. It may die at any moment; no call depends on it.
import { readConfig } from "./config.ts";
import { startController } from "./controller/start-controller.ts";
import { createServiceLog } from "./service-log.ts";
import { runUntilTold } from "./run-until-told.ts";

const config = readConfig();
const log = createServiceLog({ level: config.logLevel, process: "controller" });
await runUntilTold({
  log,
  async start() {
    const controller = await startController(config, log);
    log.info({ socket: config.controllerSocket }, "controller listens");
    process.on("message", (message: { type?: string }) => {
      if (message.type !== "end-sessions") return;
      void controller
        .endSessions()
        .catch((error: unknown) => log.error({ err: error }, "sessions could not be ended"))
        .finally(() => process.send?.({ type: "sessions-ended" }));
    });
    void controller.replaced.then(() => {
      log.error({}, "another controller leads, ending");
      process.exit(1);
    });
    const { firstRun = null, ownerLink = null } = controller;
    process.send?.({ type: "ready", firstRun, ownerLink });
    return controller;
  },
});
