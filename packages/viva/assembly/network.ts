import { multiply, prelu } from "./matrix";
import { BINS, Model, OUTPUTS, Recurrent } from "./model";
import { takeFloats } from "./room";
import { sigmoid, tanh } from "./vector-math";

const WIDEST: i32 = 1024;
const sums = takeFloats(WIDEST);
const inputSums = takeFloats(WIDEST);
const hiddenSums = takeFloats(WIDEST);
const outputs = takeFloats(OUTPUTS);
const bandLayer = takeFloats(WIDEST);
const bandSums = takeFloats(WIDEST);

/** The gate is open in doubt: its logit is shifted by this. */
const GATE_SHIFT: f32 = 2;

/** One step of a gated recurrent layer; `input` and its own values lie in a row. */
function recur(layerAt: usize, input: usize, inputs: i32, hidden: i32): void {
  const layer = changetype<Recurrent>(layerAt);
  const values = input + (<usize>inputs << 2);
  multiply(layer.gates, layer.gatesBias, input, sums, 2 * hidden, inputs + hidden);
  multiply(layer.input, layer.inputBias, input, inputSums, hidden, inputs);
  multiply(layer.hidden, layer.hiddenBias, values, hiddenSums, hidden, hidden);
  const bytes = <usize>hidden << 2;
  for (let at: usize = 0; at < bytes; at += 16) {
    const reset = sigmoid(v128.load(sums + at));
    const keep = sigmoid(v128.load(sums + bytes + at));
    const fresh = tanh(
      f32x4.add(v128.load(inputSums + at), f32x4.mul(reset, v128.load(hiddenSums + at))),
    );
    const old = v128.load(values + at);
    v128.store(values + at, f32x4.add(fresh, f32x4.mul(keep, f32x4.sub(old, fresh))));
  }
}

/** Writes a gain per bin to `gains`, and per band to `bandGains`; returns how likely the near talker speaks. */
export function runNetwork(
  model: Model,
  features: usize,
  columns: i32,
  layers: usize,
  gains: usize,
  bandGains: usize,
): f32 {
  const first = layers + (<usize>model.conv << 2);
  multiply(model.frames, model.framesBias, features, layers, model.conv, columns);
  prelu(layers, model.framesSlope, model.conv);
  recur(model.first, layers, model.conv, model.hidden);
  recur(model.second, first, model.hidden, model.hidden);
  multiply(model.output, model.outputBias, first, outputs, OUTPUTS, 2 * model.hidden);
  const logit = load<f32>(outputs + (BINS << 2));
  const gate = f32x4.splat(f32x4.extract_lane(sigmoid(f32x4.splat(logit + GATE_SHIFT)), 0));
  for (let at: usize = 0; at < <usize>OUTPUTS << 2; at += 16)
    v128.store(gains + at, f32x4.mul(gate, sigmoid(v128.load(outputs + at))));
  if (model.bands > 0) runBands(model, first, bandGains, gate);
  return f32x4.extract_lane(sigmoid(f32x4.splat(logit)), 0);
}

function runBands(model: Model, first: usize, bandGains: usize, gate: v128): void {
  const inputs = 2 * model.hidden + 3 * model.bands;
  multiply(model.bandFrames, model.bandFramesBias, first, bandLayer, model.bandHidden, inputs);
  prelu(bandLayer, model.bandFramesSlope, model.bandHidden);
  multiply(model.bandOutput, model.bandOutputBias, bandLayer, bandSums, model.bands, model.bandHidden);
  for (let at: usize = 0; at < <usize>model.bands << 2; at += 16)
    v128.store(bandGains + at, f32x4.mul(gate, sigmoid(v128.load(bandSums + at))));
}
