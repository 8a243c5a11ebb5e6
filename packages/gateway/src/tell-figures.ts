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
  /** Name of this gateway where there are several. */
  name: string | undefined;
}

/** Reports the gateway's figures to the controller every few seconds, for `/metrics` of the service. */
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
