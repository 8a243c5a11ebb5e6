import { z } from "zod";
import { ProcessFigures } from "./process-figures.ts";

/** Figures that a gateway reports to the controller every few seconds. */
export const GatewayFigures = z.object({
  /** Name of the gateway where there are several. @default the only one */
  gateway: z.string().optional(),
  /** Open TCP connections, those of WebSockets included. */
  connections: z.number(),
  connectionsMax: z.number(),
  /** WebSockets being relayed to instances. */
  sockets: z.number(),
  process: ProcessFigures,
});
export type GatewayFigures = z.infer<typeof GatewayFigures>;
