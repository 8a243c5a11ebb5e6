// Runs the controller, which owns the store and makes the decisions. It may crash at any moment; no call depends on
// it.
import { AppError } from "@vocalhost/protocol";
import { readConfig } from "./config.ts";
import type { OpenRoomServer, RoomServerAddresses } from "./controller/room-server.ts";
import { startController } from "./controller/start-controller.ts";
import { takePrecedence } from "@vocalhost/drivers/process/precedence";
import { createServiceLog } from "@vocalhost/base/service-log";
import { runUntilTold } from "@vocalhost/base/run-until-told";
import { systemClock } from "@vocalhost/base/system-clock";

const ROOMS_MS = 20_000;
const roomServer = Promise.withResolvers<RoomServerAddresses>();
process.on("message", (message: { type?: string } & RoomServerAddresses) => {
  if (message.type === "rooms") roomServer.resolve(message);
});

// The supervisor runs the room server, so that rooms survive a crash of the controller.
const openRoomServer: OpenRoomServer = async (wanted) => {
  if (config.parts !== "all")
    throw new AppError("SERVICE_UNAVAILABLE", {
      message: "Our own rooms need controller and gateway on one machine; several need LiveKit's or Daily's",
    });
  process.send?.({ type: "want-rooms", ...wanted });
  const late = new AbortController();
  const tooLate = systemClock.sleep(ROOMS_MS, late.signal).then(() => {
    throw new Error("The room server was not started in time");
  });
  tooLate.catch(() => undefined);
  return Promise.race([roomServer.promise, tooLate]).finally(() => late.abort());
};

takePrecedence(); // before there are threads, whose priority it does not change
const config = readConfig();
const log = createServiceLog({ config, process: "controller" });
await runUntilTold({
  log,
  async start() {
    const controller = await startController(config, log, { openRoomServer });
    const where = config.peers?.listen ?? { socket: config.controllerSocket };
    log.info({ ...where, leads: controller.leads }, "controller listens");
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
