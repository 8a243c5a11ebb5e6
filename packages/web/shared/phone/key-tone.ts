import { fromPcm } from "../media/pcm.ts";
import { restAudioContext, sharedAudioContext } from "../media/audio-context.ts";

const VOLUME = 0.35;

let sounding = 0;

/** The two tones of a key, in the user's ear only. */
export async function playKeyTone(key: string, options: { restAfter: () => boolean }): Promise<void> {
  const context = sharedAudioContext(); // sound may start only with the user's click
  const { keyTones } = await import("@vocalhost/simulator");
  const samples = fromPcm(keyTones(key, context.sampleRate));
  const buffer = context.createBuffer(1, samples.length, context.sampleRate);
  buffer.copyToChannel(samples, 0);
  const volume = new GainNode(context, { gain: VOLUME });
  const source = new AudioBufferSourceNode(context, { buffer });
  source.connect(volume).connect(context.destination);
  source.addEventListener("ended", () => {
    sounding -= 1;
    volume.disconnect();
    if (sounding === 0 && options.restAfter()) restAudioContext();
  });
  sounding += 1;
  source.start();
}
