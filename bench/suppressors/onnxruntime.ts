import { readModel } from "./shipped-model.ts";
import { ourLayers } from "./our-layers.ts";

/** The part of onnxruntime-node used here; it is not among the dependencies, for its installation downloads more. */
interface Runtime {
  InferenceSession: {
    create(model: Uint8Array, options: object): Promise<{ run(feeds: Tensors): Promise<Tensors> }>;
  };
  Tensor: new (type: "float32", values: Float32Array, shape: number[]) => unknown;
}

type Tensors = Record<string, unknown>;

const FEATURES = 3 * 259;

/** Runs steps of 10 ms of our network's layers, without transforms; undefined where onnxruntime-node is not installed. */
export async function loadOnnxSteps(): Promise<((count: number) => Promise<void>) | undefined> {
  const path: string = "onnxruntime-node";
  const runtime = await import(path).then(
    (module) => (module as { default: Runtime }).default,
    () => undefined,
  );
  if (!runtime) return undefined;
  const layers = readModel("tel");
  const threads = { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: "sequential" };
  const session = await runtime.InferenceSession.create(ourLayers(layers), threads);
  const zeros = (shape: number[]): unknown =>
    new runtime.Tensor(
      "float32",
      new Float32Array(shape.reduce((product, size) => product * size, 1)),
      shape,
    );
  const features = Float32Array.from({ length: FEATURES }, (_, index) => Math.sin(index));
  const input = new runtime.Tensor("float32", features, [1, FEATURES]);
  return async (count) => {
    const { hidden, holdHidden } = layers;
    const state = new Map(
      Object.entries({ first: hidden, second: hidden, listener: holdHidden }).map(([name, size]) => [
        name,
        zeros([1, 1, size]),
      ]),
    );
    for (let step = 0; step < count; step += 1) {
      const before = [...state].map(([name, values]) => [`${name}.before`, values]);
      const result = await session.run({ features: input, ...Object.fromEntries(before) });
      for (const name of state.keys()) state.set(name, result[`${name}.after`]);
    }
  };
}
