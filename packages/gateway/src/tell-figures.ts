import type { Server } from "node:http";
import type { GatewayFigures } from "@vocalhost/base/metrics/gateway-figures";
import { sampleProcess } from "@vocalhost/base/metrics/process-figures";
import type { ControllerLink } from "./controller-link.ts";
import type { GatewayLimits } from "./gateway-options.ts";

export interface FiguresOptions {
  server: Server;
  controller: ControllerLink;
  relayed: { readonly size: number };
  restarts: number;
  limits: Pick<GatewayLimits, "connections">;
  /** Which of several this is. */
  name: string | undefined;
}

/** Tells the controller every few seconds how the gateway is doing; `/metrics` of the service shows it. */
export function tellFigures(options: FiguresOptions): Disposable {
  const { server, controller, relayed, restarts, limits, name } = options;
  return sampleProcess({
    restarts,
    sampled(process) {
      server.getConnections((error, connections) => {
        if (error) return; // the server is closing
        const figures: GatewayFigures = {
          ...(name === undefined ? {} : { gateway: name }),
          connections,
          connectionsMax: limits.connections,
          sockets: relayed.size,
          process,
        };
        controller.tell("/internal/gateway-figures", figures);
      });
    },
  });
}
