// Runs the gateway, which owns the public port and keeps it while controllers restart.
import { readConfig } from "./config.ts";
import { ConfigError } from "@vocalhost/base/config-error";
import { startGateway } from "@vocalhost/gateway/start-gateway";
import { createServiceLog } from "@vocalhost/base/service-log";
import { runUntilTold } from "@vocalhost/base/run-until-told";

const config = readConfig();
const log = createServiceLog({ config, process: "gateway" });
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
