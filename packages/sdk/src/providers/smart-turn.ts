import { createResampler, type AudioFrame } from "@vocalhost/audio";
import { adaptiveSilence, type AdaptiveSilenceOptions, type EndOfTurn } from "../speech/end-of-turn.ts";
import { BANDS, FRAMES, logMel, MODEL_HZ } from "../speech/log-mel.ts";

export interface SmartTurnOptions {
  /** The module `onnxruntime-node`, or another with the same interface. */
  runtime: OnnxRuntime;
  /** Path of the weights of Smart Turn v3, for instance `smart-turn-v3.2-cpu.onnx`. */
  model: string;
  /** Probability above which the turn counts as finished, from 0 to 1. @default 0.5 */
  threshold?: number;
  /** Silences after speech that sounds finished, by its words. @default 200, 200, 600, 1000 and 2500 ms */
  finished?: AdaptiveSilenceOptions;
  /** The same after speech that sounds unfinished. @default 900, 1500, 1500, 1800 and 2500 ms */
  unfinished?: AdaptiveSilenceOptions;
}

/** The part of `onnxruntime-node` that is used. */
export interface OnnxRuntime {
  InferenceSession: { create(model: string, options?: object): Promise<OnnxSession> };
  Tensor: new (type: "float32", values: Float32Array, shape: readonly number[]) => unknown;
}

export interface OnnxSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Record<string, unknown>): Promise<Record<string, unknown>>;
}

/** Judges by the intonation of the last seconds, and by the words, whether the user has finished. */
export function smartTurn(options: SmartTurnOptions): EndOfTurn {
  const threshold = options.threshold ?? 0.5;
  if (!(threshold > 0 && threshold < 1))
    throw new RangeError(`The threshold must be between 0 and 1, not ${threshold}`);
  const finished = adaptiveSilence({
    completeMs: 200,
    unsureMs: 200,
    numberMs: 600,
    incompleteMs: 1_000,
    ...options.finished,
  });
  const unfinished = adaptiveSilence({
    completeMs: 900,
    unsureMs: 1_500,
    numberMs: 1_500,
    incompleteMs: 1_800,
    ...options.unfinished,
  });
  const session = openSession(options);
  session.catch(() => undefined); // reported at the first pause
  let judged: Promise<number> | undefined; // of the current pause

  async function judge({ samples, sampleRateHz }: AudioFrame): Promise<number> {
    const loaded = await session;
    const heard = createResampler({ fromHz: sampleRateHz, toHz: MODEL_HZ }).process(samples);
    const features = logMel(Float32Array.from(heard, (sample) => sample / 32_768));
    const input = new options.runtime.Tensor("float32", features, [1, BANDS, FRAMES]);
    const outputs = await loaded.run({ [loaded.inputNames[0] ?? ""]: input });
    const { data } = outputs[loaded.outputNames[0] ?? ""] as { data: ArrayLike<number> };
    return data[0] ?? 0;
  }

  return {
    paused({ audio }) {
      judged = judge(audio);
      judged.catch(() => undefined); // reported when it is needed
    },
    async silenceMs(pause) {
      const begun = judged;
      judged = undefined;
      const probability = await (begun ?? judge(pause.audio));
      return (probability >= threshold ? finished : unfinished).silenceMs(pause);
    },
    spokeOn(silenceMs) {
      finished.spokeOn?.(silenceMs);
      unfinished.spokeOn?.(silenceMs);
    },
  };
}

const opened = new WeakMap<OnnxRuntime, Map<string, Promise<OnnxSession>>>();

/** Conversations of a process share the weights. */
function openSession({ runtime, model }: SmartTurnOptions): Promise<OnnxSession> {
  const sessions = opened.get(runtime) ?? new Map<string, Promise<OnnxSession>>();
  opened.set(runtime, sessions);
  const known = sessions.get(model);
  if (known) return known;
  // A single thread: a few milliseconds are not worth taking cores from other sessions.
  const session = runtime.InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  sessions.set(model, session);
  session.catch(() => sessions.delete(model));
  return session;
}
