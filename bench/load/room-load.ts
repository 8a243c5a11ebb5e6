// Child process: participants of one room. Some speak; every packet carries when it left, and says so where it arrives.
import { signToken } from "@vocalhost/rooms";
import { joinBarely, type Microphone } from "../../e2e/harness/bare-participant.ts";
import { readSettings, serveLoad, type Caller, type Counts } from "./callers.ts";

const RTP_HEADER_BYTES = 12;
const PAYLOAD_BYTES = 80; // 20 ms of Opus at 32 kbit/s
const JOIN_ATTEMPTS = 4; // the client library fails now and then, before it meets the server

const { url, room } = readSettings();
if (!room) throw new Error("room-load needs a room");
serveLoad(open);

async function open(index: number, counts: Counts): Promise<Caller> {
  const startedMs = performance.now();
  const isSpeaker = index < room!.speakers;
  const packet = (arrived: Buffer): void => {
    if (arrived.length !== RTP_HEADER_BYTES + PAYLOAD_BYTES) return;
    counts.received += 1;
    counts.gapsMs.push(performance.now() - arrived.readDoubleBE(RTP_HEADER_BYTES));
  };
  for (let attempt = 1; ; attempt += 1) {
    const identity = `participant-${index}`;
    const token = await signToken({ identity, video: { roomJoin: true, room: "bench" } }, room!);
    const participant = await joinBarely({ url, token, packet });
    try {
      await participant.connected();
      const microphone = isSpeaker ? await participant.publish() : undefined;
      return {
        connectMs: performance.now() - startedMs,
        speak: () => speak(microphone),
        close: () => participant.leave(),
      };
    } catch (error) {
      participant.leave();
      if (attempt >= JOIN_ATTEMPTS) throw error;
    }
  }
}

function speak(microphone: Microphone | undefined): void {
  if (!microphone) return;
  const payload = Buffer.alloc(PAYLOAD_BYTES);
  payload.writeDoubleBE(performance.now());
  microphone.send(payload);
}
