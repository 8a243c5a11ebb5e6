// The gateway's process: owns the public port and keeps it while controllers come and go.
import { ConfigError, readConfig } from "./config.ts";
import { startGateway } from "./gateway/start-gateway.ts";
import { createServiceLog } from "./service-log.ts";
import { runUntilTold } from "./run-until-told.ts";

const config = readConfig();
const log = createServiceLog({ level: config.logLevel, process: "gateway" });
await runUntilTold({
  log,
  async start() {
    const { host, port, peers, controllerSocket, publicUrl, trustForwarded, restarts } = config;
    const gateway = await startGateway({
      host,
      port,
      controllers: peers
        ? { addresses: peers.controllers, files: peers.files }
        : { socket: controllerSocket },
      trustForwarded,
      restarts,
      log,
      ...(port === 0 ? {} : { publicUrl }),
    }).catch((error: unknown) => {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code !== "EADDRINUSE") throw error;
      throw new ConfigError(
        `Port ${port} on ${host} is in use. Stop the other program, or choose another port: VOCALHOST_PORT=${port + 1}`,
      );
    });
    log.info({ url: gateway.url }, "gateway listens");
    process.on("message", (message: { type?: string; address?: string }) => {
      if (message.type === "rooms") gateway.setRoomServer(message.address);
    });
    process.send?.({ type: "listening", port: gateway.port });
    process.send?.({ type: "ready" });
    return gateway;
  },
});
