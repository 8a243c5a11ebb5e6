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
  const { conv, hidden } = readModel("tel");
  const threads = { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: "sequential" };
  const session = await runtime.InferenceSession.create(ourLayers(conv, hidden), threads);
  const zeros = (shape: number[]): unknown =>
    new runtime.Tensor(
      "float32",
      new Float32Array(shape.reduce((product, size) => product * size, 1)),
      shape,
    );
  const features = Float32Array.from({ length: FEATURES }, (_, index) => Math.sin(index));
  const input = new runtime.Tensor("float32", features, [1, FEATURES]);
  return async (count) => {
    let first = zeros([1, 1, hidden]);
    let second = zeros([1, 1, hidden]);
    for (let step = 0; step < count; step += 1) {
      const result = await session.run({ features: input, "first.before": first, "second.before": second });
      first = result["first.after"];
      second = result["second.after"];
    }
  };
}
