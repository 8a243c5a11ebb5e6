// Hears as its start body says, and says back only what it hears that way. On the phone it brings the caller into a room.
import {
  bridge,
  createTransport,
  joinRoom,
  type AudioFrame,
  type Invitation,
  type RunnerArguments,
  type Transport,
} from "vocalhost";
import { main } from "vocalhost/runner";

interface Options {
  hear?: "everyone" | "each" | "first-guest";
  /** Say back what guests say, of those heard apart. */
  guestsOnly?: boolean;
  /** Speak without end until told to stop. */
  toneHz?: number;
  /** Whom to call into the room. */
  dial?: string;
  /** Where a caller is taken. */
  room?: Invitation;
}

const RATE_HZ = 24_000;

export async function bot(args: RunnerArguments): Promise<void> {
  const { hear = "everyone", guestsOnly, toneHz, dial, room } = args.body as Options;
  if (room) return takeCaller(args, room);
  const only = { only: `Guest-1-${args.sessionId.slice(0, 8)}` };
  const transport = await createTransport(args, { room: { hear: hear === "first-guest" ? only : hear } });
  if (toneHz !== undefined) transport.audioOut.write(tone(toneHz));
  if (dial !== undefined) process.stdout.write(`called ${await called(transport, dial)}\n`);
  transport.rtvi.on("client-message", ({ respond }) => {
    transport.audioOut.clear();
    respond(transport.audioOut.queuedMs);
  });
  const echo = async (audio: AsyncIterable<AudioFrame>): Promise<void> => {
    for await (const frame of audio) transport.audioOut.write(frame);
  };
  transport.room?.on("participant-joined", ({ identity, audioIn }) => {
    if (guestsOnly && audioIn && identity.startsWith("Guest-")) void echo(audioIn);
  });
  if (guestsOnly || toneHz !== undefined) for await (const _ of transport.audioIn);
  else await echo(transport.audioIn);
}

async function called({ room }: Transport, number: string): Promise<string> {
  const answered = await room?.dial(number, { name: "Ann" }).catch((error: Error) => error.message);
  return typeof answered === "object" ? answered.identity : `nobody: ${answered}`;
}

async function takeCaller(args: RunnerArguments, room: Invitation): Promise<void> {
  const call = await createTransport(args);
  await bridge(call, await joinRoom(args, room));
}

function tone(toneHz: number): AudioFrame {
  const samples = Int16Array.from({ length: RATE_HZ * 50 }, (_, at) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * toneHz * at) / RATE_HZ)),
  );
  return { samples, sampleRateHz: RATE_HZ };
}

if (import.meta.main) await main();
