import { askCarrier, type CarrierAccounts } from "@vocalhost/protocol";
import type { Log } from "../log.ts";
import type { CarrierStream } from "@vocalhost/carriers";

const HANG_UP_MS = 5_000;

/** Ends the phone call over the carrier's REST interface. Never throws: closing the socket is the way out. */
export async function hangUp(stream: CarrierStream, accounts: CarrierAccounts, log: Log): Promise<void> {
  const request = stream.hangUp(accounts);
  if (!request) {
    if (stream.carrier !== "exotel")
      log.info({ carrier: stream.carrier }, "no credentials to hang up with, closing the socket");
    return;
  }
  try {
    const { status, text } = await askCarrier(request, { timeoutMs: HANG_UP_MS });
    if ((status >= 200 && status < 300) || request.isAlreadyOver(status, text)) return;
    log.warn({ carrier: stream.carrier, status, answer: text.slice(0, 200) }, "carrier refused to hang up");
  } catch (error) {
    log.warn({ carrier: stream.carrier, err: error }, "carrier could not be asked to hang up");
  }
}
