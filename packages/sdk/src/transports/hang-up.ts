import { carriers, restOf, type CarrierAccounts, type CarrierStream } from "@vocalhost/carriers";
import { askCarrier } from "@vocalhost/protocol";
import type { Log } from "../log.ts";

const HANG_UP_MS = 5_000;

/**
 * Ends the phone call over the carrier's REST interface. Never throws: on failure, closing the socket ends the
 * call.
 */
export async function hangUp(
  { carrier, callData }: CarrierStream,
  accounts: CarrierAccounts,
  log: Log,
): Promise<void> {
  if (!carriers[carrier].hangUp) return;
  const rest = restOf(accounts, carrier);
  if (!rest) return log.info({ carrier }, "no credentials to hang up with, closing the socket");
  const request = carriers[carrier].hangUp(rest, callData.callId);
  try {
    const { status, text } = await askCarrier({ carrier, ...request }, { timeoutMs: HANG_UP_MS });
    if ((status >= 200 && status < 300) || request.isAlreadyOver(status, text)) return;
    log.warn({ carrier, status, answer: text.slice(0, 200) }, "carrier refused to hang up");
  } catch (error) {
    log.warn({ carrier, err: error }, "carrier could not be asked to hang up");
  }
}
