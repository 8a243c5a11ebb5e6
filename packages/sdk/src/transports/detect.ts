import {
  asMessage,
  CarrierError,
  carrierNames,
  openStream,
  type CarrierMessage,
  type CarrierName,
  type CarrierStream,
} from "@vocalhost/carriers";

const OPENING_MESSAGES_MAX = 2; // a greeting and a start

/** Finds out which carrier's call this is from its first messages, and leaves them in place for the bot. */
export async function detectCall(
  peek: (place: number) => Promise<string | undefined>,
  address: URLSearchParams,
  only: CarrierName | undefined,
): Promise<CarrierStream> {
  for (let at = 0; at < OPENING_MESSAGES_MAX; at += 1) {
    const text = await peek(at);
    if (text === undefined) {
      throw new CarrierError(
        at === 0
          ? "WebSocket closed before receiving telephony handshake messages"
          : "The carrier closed the WebSocket before it named the call",
      );
    }
    const stream = openAny(parseMessage(text), address, only);
    if (stream) return stream;
  }
  throw new CarrierError(
    only
      ? `The first messages are not those of a ${only} call (-t ${only})`
      : `The first messages are not those of a carrier we know: ${carrierNames.join(", ")}`,
  );
}

// Carriers send 7 KB at most. Parsing larger messages could delay all other calls.
export const MESSAGE_MAX_CHARS = 64 * 1024;

/** Returns undefined unless the text is a JSON object of a sensible size. */
export function parseMessage(text: string): CarrierMessage {
  if (text.length > MESSAGE_MAX_CHARS) return {};
  try {
    return asMessage(JSON.parse(text));
  } catch {
    return {};
  }
}

function openAny(
  message: CarrierMessage,
  address: URLSearchParams,
  only: CarrierName | undefined,
): CarrierStream | undefined {
  for (const name of only ? [only] : carrierNames) {
    const stream = openStream(name, message, address);
    if (stream) return stream;
  }
  return undefined;
}
