import { measureTone, type Sound, type Tone } from "../tone.ts";
import { findUtterance, type Utterance } from "../utterance.ts";

/** Hears everything the page plays. */
export interface Loudspeaker {
  /** Plays a media track, as an application plays its bot. */
  play(track: MediaStreamTrack): void;
  /** The sound of the last fifth of a second. */
  hear(): Tone;
  /** Resolves with the next thing played, once silence follows it. It must be short. */
  nextUtterance(): Promise<Utterance>;
}

const SAMPLE_RATE_HZ = 24_000;
const MEMORY_SAMPLES = 32_768; // the most an analyser keeps
const MOMENT_MS = 200;
const UTTERANCE_ENDS_MS = 400; // of silence; less may be a gap in it
const LISTEN_AGAIN_MS = 100;

/** Must run before anything plays. */
export function installLoudspeaker(): Loudspeaker {
  const analysers = new Map<BaseAudioContext, AnalyserNode>();
  const connect = AudioNode.prototype.connect as (this: AudioNode, ...args: unknown[]) => unknown;

  function analyserOf(context: BaseAudioContext): AnalyserNode {
    const known = analysers.get(context);
    if (known) return known;
    const analyser = new AnalyserNode(context, { fftSize: MEMORY_SAMPLES });
    const silence = new ConstantSourceNode(context, { offset: 0 });
    connect.call(silence, analyser); // without input an analyser stands still and repeats what it heard last
    silence.start();
    analysers.set(context, analyser);
    return analyser;
  }

  AudioNode.prototype.connect = function (this: AudioNode, ...args: unknown[]) {
    const [destination] = args;
    if (destination instanceof AudioDestinationNode) connect.call(this, analyserOf(destination.context));
    return connect.apply(this, args);
  } as typeof AudioNode.prototype.connect;

  let context: AudioContext | undefined;
  let source: MediaStreamAudioSourceNode | undefined;

  function memory(): Sound {
    const sounds = [...analysers].map(([{ sampleRate }, analyser]) => {
      const samples = new Float32Array(MEMORY_SAMPLES);
      analyser.getFloatTimeDomainData(samples);
      return { samples, sampleRateHz: sampleRate };
    });
    const silence = { samples: new Float32Array(MEMORY_SAMPLES), sampleRateHz: SAMPLE_RATE_HZ };
    return sounds.reduce((loudest, sound) => (energy(sound) > energy(loudest) ? sound : loudest), silence);
  }

  return {
    play(track) {
      const stream = new MediaStream([track]);
      const element = new Audio(); // Chromium decodes a remote track only when an element plays it
      element.muted = true;
      element.srcObject = stream;
      void element.play();
      context ??= new AudioContext({ sampleRate: SAMPLE_RATE_HZ });
      source?.disconnect();
      source = new MediaStreamAudioSourceNode(context, { mediaStream: stream });
      source.connect(context.destination);
    },
    hear() {
      const { samples, sampleRateHz } = memory();
      return measureTone({ samples: samples.slice(-(sampleRateHz * MOMENT_MS) / 1000), sampleRateHz });
    },
    nextUtterance: () =>
      new Promise((resolve) => {
        const timer = setInterval(() => {
          const utterance = findUtterance(memory());
          if (!utterance || utterance.silenceAfterMs < UTTERANCE_ENDS_MS) return;
          clearInterval(timer);
          resolve(utterance);
        }, LISTEN_AGAIN_MS);
      }),
  };
}

function energy({ samples }: Sound): number {
  return samples.reduce((sum, sample) => sum + sample * sample, 0);
}
