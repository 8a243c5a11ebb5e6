import type { Log } from "../log.ts";
import type { CarrierStream } from "./carrier.ts";
import type { TelephonyCredentials } from "./config.ts";

const HANG_UP_MS = 5_000;

/** Ends the phone call over the carrier's REST interface. Never throws: closing the socket is the way out. */
export async function hangUp(
  stream: CarrierStream,
  credentials: TelephonyCredentials,
  log: Log,
): Promise<void> {
  const request = stream.hangUp(credentials);
  if (!request) {
    if (stream.carrier !== "exotel")
      log.info({ carrier: stream.carrier }, "no credentials to hang up with, closing the socket");
    return;
  }
  const { url, method, headers, body, isAlreadyOver } = request;
  try {
    const response = await fetch(url, {
      method,
      headers,
      signal: AbortSignal.timeout(HANG_UP_MS),
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    if (response.ok || isAlreadyOver(response.status, text)) return;
    log.warn(
      { carrier: stream.carrier, status: response.status, answer: text.slice(0, 200) },
      "carrier refused to hang up",
    );
  } catch (error) {
    log.warn({ carrier: stream.carrier, err: error }, "carrier could not be asked to hang up");
  }
}
