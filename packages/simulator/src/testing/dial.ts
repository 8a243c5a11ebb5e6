import { createConversation } from "../caller/conversation.ts";
import { createCarrier, type CarrierChoice } from "../carriers/create-carrier.ts";
import { toBase64 } from "../carriers/wire-format.ts";
import { createVirtualClock, type VirtualClock } from "../clock.ts";
import { placeCall, type PhoneCall } from "../phone-call.ts";
import type { PlaceCallOptions } from "../place-call-options.ts";
import { createFakeSocket, type FakeSocket } from "./fake-socket.ts";

/** A call in virtual time, to a bot that is the test. The socket is not open yet. */
export function dial(
  options: Partial<PlaceCallOptions> = {},
  choice: CarrierChoice = { name: "twilio" },
): DialledCall {
  const clock = createVirtualClock();
  const socket = createFakeSocket();
  const carrier = createCarrier(choice, {
    ids: { callId: "call", streamId: "stream", accountId: "account", sessionId: "session" },
    from: "+1",
    to: "+2",
    parameters: {},
  });
  const voice = createConversation({ sampleRateHz: carrier.uplink.sampleRateHz, sentences: [] });
  const call = placeCall({ carrier, clock, voice, openSocket: () => socket, ...options });
  return { call, clock, socket };
}

export interface DialledCall {
  call: PhoneCall;
  clock: VirtualClock;
  socket: FakeSocket;
}

/** A message with sound, as Twilio and Telnyx take it. */
export function loud(ms: number): object {
  const payload = toBase64(new Uint8Array(ms * 8).fill(0x90));
  return { event: "media", streamSid: "stream", media: { payload } };
}

/** The same requests in each carrier's words. */
export function wording(name: CarrierChoice["name"]): Wording {
  const pcm = (ms: number): string => toBase64(new Uint8Array(ms * 16).fill(0x11));
  switch (name) {
    case "twilio":
      return {
        say: loud,
        mark: (text: string) => ({ event: "mark", streamSid: "stream", mark: { name: text } }),
        clear: { event: "clear", streamSid: "stream" },
        answer: "mark",
      };
    case "telnyx":
      return {
        say: loud,
        mark: (text: string) => ({ event: "mark", mark: { name: text } }),
        clear: { event: "clear" },
        answer: "mark",
      };
    case "plivo":
      return {
        say: (ms: number) => ({
          event: "playAudio",
          media: {
            contentType: "audio/x-mulaw",
            sampleRate: 8000,
            payload: toBase64(new Uint8Array(ms * 8).fill(0x90)),
          },
        }),
        mark: (text: string) => ({ event: "checkpoint", streamId: "stream", name: text }),
        clear: { event: "clearAudio", streamId: "stream" },
        answer: "playedStream",
      };
    case "exotel":
      return {
        say: (ms: number) => ({ event: "media", stream_sid: "stream", media: { payload: pcm(ms) } }),
        mark: (text: string) => ({ event: "mark", stream_sid: "stream", mark: { name: text } }),
        clear: { event: "clear", stream_sid: "stream" },
        answer: "mark",
      };
    default:
      throw new RangeError(`no words of ${String(name)} are known here`);
  }
}

export interface Wording {
  say: (ms: number) => object;
  mark: (name: string) => object;
  clear: object;
  /** The carrier's event for a mark that was reached. */
  answer: string;
}
