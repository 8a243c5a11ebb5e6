import type { Layers } from "./shipped-model.ts";
import { onnxFile, type Constant } from "./onnx-file.ts";

const FEATURES = 3 * 259;
const OUTPUTS = 258; // a gain per frequency, and the near talker

/** Returns the layers of our network for one step of 10 ms. The values of the weights do not change how long it takes. */
export function ourLayers({ conv, hidden, holdHidden }: Layers): Uint8Array {
  const layers = new LayerBuilder();
  const { linear, recurrent, weights, sizes } = layers;
  const nodes = [
    linear("frames", "features", FEATURES, conv),
    { operator: "PRelu", inputs: ["frames", weights("slope", [conv])], outputs: ["bent"] },
    { operator: "Reshape", inputs: ["bent", sizes("one", [1, 1, conv])], outputs: ["step"] },
    recurrent("first", "step", conv, hidden),
    recurrent("second", "first.after", hidden, hidden),
    {
      operator: "Concat",
      inputs: ["first.after", "second.after"],
      outputs: ["both"],
      attributes: { axis: 2 },
    },
    { operator: "Reshape", inputs: ["both", sizes("row", [1, 2 * hidden])], outputs: ["flat"] },
    linear("sums", "flat", 2 * hidden, OUTPUTS),
    { operator: "Sigmoid", inputs: ["sums"], outputs: ["gains"] },
    { operator: "Concat", inputs: ["step", "both"], outputs: ["heard"], attributes: { axis: 2 } },
    recurrent("listener", "heard", conv + 2 * hidden, holdHidden),
    {
      operator: "Reshape",
      inputs: ["listener.after", sizes("listened", [1, holdHidden])],
      outputs: ["flat listener"],
    },
    linear("hold", "flat listener", holdHidden, 1),
  ];
  const state = [1, 1, hidden];
  const listening = [1, 1, holdHidden];
  return onnxFile({
    nodes,
    constants: layers.constants,
    inputs: [
      { name: "features", shape: [1, FEATURES] },
      { name: "first.before", shape: state },
      { name: "second.before", shape: state },
      { name: "listener.before", shape: listening },
    ],
    outputs: [
      { name: "gains", shape: [1, OUTPUTS] },
      { name: "first.after", shape: state },
      { name: "second.after", shape: state },
      { name: "hold", shape: [1, 1] },
      { name: "listener.after", shape: listening },
    ],
  });
}

/** Builds layers and collects the constants they use. */
class LayerBuilder {
  readonly constants: Constant[] = [];

  readonly weights = (name: string, shape: number[]): string => {
    const count = shape.reduce((product, size) => product * size, 1);
    const values = Float32Array.from({ length: count }, (_, index) => 0.05 * Math.sin(index * 12.9898));
    this.constants.push({ name, shape, values });
    return name;
  };

  readonly sizes = (name: string, shape: number[]): string => {
    this.constants.push({ name, shape: [shape.length], values: BigInt64Array.from(shape, BigInt) });
    return name;
  };

  readonly recurrent = (name: string, input: string, inputs: number, size: number) => ({
    operator: "GRU",
    inputs: [
      input,
      this.weights(`${name}.w`, [1, 3 * size, inputs]),
      this.weights(`${name}.r`, [1, 3 * size, size]),
      this.weights(`${name}.b`, [1, 6 * size]),
      "",
      `${name}.before`,
    ],
    outputs: [`${name}.all`, `${name}.after`],
    attributes: { hidden_size: size, linear_before_reset: 1 },
  });

  readonly linear = (name: string, input: string, inputs: number, outputs: number) => ({
    operator: "Gemm",
    inputs: [input, this.weights(`${name}.w`, [outputs, inputs]), this.weights(`${name}.b`, [outputs])],
    outputs: [name],
    attributes: { transB: 1 },
  });
}
