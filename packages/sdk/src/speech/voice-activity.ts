import { createFramer, createResampler } from "@vocalhost/audio";
import { createRequire } from "node:module";
import { join } from "node:path";
import { packageFolder } from "../own-files.ts";

/** Creates a detector that tells speech from silence and noise, with the Silero model. */
export function createVoiceActivityDetector(options: VoiceActivityDetectorOptions): VoiceActivityDetector {
  const threshold = options.threshold ?? 0.5;
  if (!(threshold > 0 && threshold < 1)) {
    throw new RangeError(`The speech threshold must be between 0 and 1, not ${threshold}`);
  }
  const resampler = createResampler({ fromHz: options.sampleRateHz, toHz: MODEL_HZ });
  const framer = createFramer({ samplesPerFrame: WINDOW_SAMPLES });
  const window = new Float32Array(WINDOW_SAMPLES);
  let engine: Engine | undefined = takeEngine(threshold);

  return {
    windowMs: (WINDOW_SAMPLES * 1000) / MODEL_HZ,
    process(samples) {
      const { vad } = engine ?? refuseFreed();
      return framer.push(resampler.process(samples)).map((frame) => {
        for (let i = 0; i < WINDOW_SAMPLES; i++) window[i] = frame[i]! / 32_768;
        return isSpeech(vad, window);
      });
    },
    free() {
      if (engine) giveBackEngine(engine);
      engine = undefined;
    },
  };
}

export interface VoiceActivityDetectorOptions {
  /** Any common rate; 16000 needs no conversion. */
  sampleRateHz: number;
  /** Probability above which sound is speech, from 0 to 1. @default 0.5 */
  threshold?: number;
}

export interface VoiceActivity {
  /** Length of the window that one decision covers, in milliseconds. */
  readonly windowMs: number;
  /** Returns a decision for each window that is now full. */
  process(samples: Int16Array): boolean[];
}

export interface VoiceActivityDetector extends VoiceActivity {
  free(): void;
}

const MODEL_HZ = 16_000;
const WINDOW_SAMPLES = 512; // the only length the model accepts
// Relative to the package, from source and from a build alike.
const MODEL_PATH = join(packageFolder, "models/silero_vad_v5.onnx");
// An engine holds about 9 MB and takes 60 ms to create. The garbage collector sees only its small handle, and is
// slow to free it.
const MAX_IDLE_ENGINES = 4;

interface Engine {
  threshold: number;
  vad: SherpaVad;
}

/** The part of sherpa-onnx-node that is used. */
interface SherpaVad {
  acceptWaveform(samples: Float32Array): void;
  isDetected(): boolean;
  flush(): void;
  clear(): void;
  reset(): void;
}

interface Sherpa {
  Vad: new (config: object, bufferSizeInSeconds: number) => SherpaVad;
}

const idleEngines: Engine[] = [];

function takeEngine(threshold: number): Engine {
  const index = idleEngines.findIndex((engine) => engine.threshold === threshold);
  return idleEngines.splice(index, index === -1 ? 0 : 1)[0] ?? createEngine(threshold);
}

function giveBackEngine(engine: Engine): void {
  engine.vad.reset();
  idleEngines.push(engine);
  if (idleEngines.length > MAX_IDLE_ENGINES) idleEngines.shift();
}

function createEngine(threshold: number): Engine {
  // Loaded on demand because it costs about 50 MB.
  const sherpa = createRequire(import.meta.url)("sherpa-onnx-node") as Sherpa;
  const sileroVad = {
    model: MODEL_PATH,
    threshold,
    windowSize: WINDOW_SAMPLES,
    // Decisions without smoothing, which is up to the caller.
    minSpeechDuration: 1e-5,
    minSilenceDuration: 1e-5,
    maxSpeechDuration: 1e6, // beyond it the engine would raise its threshold
  };
  const vad = new sherpa.Vad({ sileroVad, sampleRate: MODEL_HZ, numThreads: 1, debug: false }, 1);
  return { threshold, vad };
}

function isSpeech(vad: SherpaVad, window: Float32Array): boolean {
  vad.acceptWaveform(window);
  const detected = vad.isDetected();
  // The engine buffers whole utterances; this drops the buffer and nothing else.
  vad.flush();
  vad.clear();
  return detected;
}

function refuseFreed(): never {
  throw new Error("The voice activity detector has been freed");
}
