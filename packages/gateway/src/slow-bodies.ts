import type { IncomingMessage } from "node:http";
import type { GatewayLimits, GatewayTiming } from "./gateway-options.ts";

export interface SlowBodies {
  /** Calls `tooSlow` when the gateway stops waiting for the rest of the body. */
  watch(request: IncomingMessage, options: { address: string; mayTakeLong: boolean; tooSlow(): void }): void;
}

/**
 * Limits bodies that arrive slowly, because each holds a connection: few per address, and for most of them little
 * time.
 */
export function createSlowBodies(
  timing: Pick<GatewayTiming, "bodyMs" | "slowBodyMs">,
  limits: Pick<GatewayLimits, "slowBodiesPerAddress">,
): SlowBodies {
  const slow = new Map<string, number>();

  return {
    watch(request, { address, mayTakeLong, tooSlow }) {
      let isCounted = false;
      const becameSlow = setTimeout(() => {
        if (request.complete) return; // the gateway has not read it yet: the controller is unreachable for a moment
        const others = slow.get(address) ?? 0;
        if (others >= limits.slowBodiesPerAddress) return tooSlow();
        isCounted = true;
        slow.set(address, others + 1);
      }, timing.slowBodyMs);
      const giveUp = (): void => (request.complete ? undefined : tooSlow());
      const isOver = mayTakeLong ? undefined : setTimeout(giveUp, timing.bodyMs);
      const { socket } = request;
      socket.setMaxListeners(0); // pipelined requests each add a listener, which Node would report as a leak
      const settle = (): void => {
        clearTimeout(becameSlow);
        clearTimeout(isOver);
        socket.off("close", settle);
        if (!isCounted) return;
        isCounted = false;
        const left = (slow.get(address) ?? 1) - 1;
        if (left === 0) slow.delete(address);
        else slow.set(address, left);
      };
      request.once("end", settle);
      request.once("close", settle);
      socket.once("close", settle); // an answered request gets no further event
    },
  };
}
