import { z } from "zod";
import { ProcessFigures } from "./process-figures.ts";

/** What the gateway tells the controller of itself every few seconds. */
export const GatewayFigures = z.object({
  /** Which of several it is. @default the only one */
  gateway: z.string().optional(),
  /** Open TCP connections, those of WebSockets included. */
  connections: z.number(),
  connectionsMax: z.number(),
  /** WebSockets being relayed to instances. */
  sockets: z.number(),
  process: ProcessFigures,
});
export type GatewayFigures = z.infer<typeof GatewayFigures>;
