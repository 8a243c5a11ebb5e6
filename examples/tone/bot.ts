// Plays a steady tone: a quick check of speakers and lines. Digit keys change its pitch.
import { createTransport, type AudioFrame, type RunnerArguments } from "vocalhost";

const SAMPLE_RATE_HZ = 24_000;
const LOUDNESS = 0.3;

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args, { audioOut: { sampleRateHz: SAMPLE_RATE_HZ } });
  const tone = createTone(440);
  transport.rtvi.on("dtmf", (keys) => {
    for (const key of keys) tone.frequencyHz = 440 * 2 ** (Number(key) / 12 || 0);
    transport.audioOut.clear();
  });
  while (!args.signal.aborted) {
    transport.audioOut.write(tone.next(100));
    await transport.audioOut.ready();
  }
}

function createTone(frequencyHz: number) {
  let phase = 0;
  return {
    frequencyHz,
    next(ms: number): AudioFrame {
      const samples = new Int16Array((SAMPLE_RATE_HZ * ms) / 1000);
      for (let at = 0; at < samples.length; at += 1) {
        samples[at] = Math.round(Math.sin(phase) * LOUDNESS * 0x7fff);
        phase += (2 * Math.PI * this.frequencyHz) / SAMPLE_RATE_HZ;
      }
      return { samples, sampleRateHz: SAMPLE_RATE_HZ };
    },
  };
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
