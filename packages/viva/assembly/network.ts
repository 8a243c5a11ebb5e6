import { addScaled, columnOffset, multiply, multiplyPart, prelu, sumRows } from "./matrix";
import { BINS, FEATURES, FRAMES_SEEN, HOLD_OUTPUTS, LAST_FEATURES, Model, OUTPUTS, Recurrent } from "./model";
import { Plan } from "./plan";
import { takeFloats } from "./room";
import { sigmoid, tanh } from "./vector-math";

const WIDEST: i32 = 1024;
const sums = takeFloats(WIDEST);
const inputSums = takeFloats(WIDEST);
const hiddenSums = takeFloats(WIDEST);
const outputs = takeFloats(OUTPUTS);
const holdOutputs = takeFloats(HOLD_OUTPUTS);
const bandLayer = takeFloats(WIDEST);
const bandSums = takeFloats(WIDEST);

/** Of the outputs, the four that hold the highest bin and the near talker's logit. */
const LAST_OUTPUTS: i32 = OUTPUTS - 4;

/** The gate is open in doubt: its logit is shifted by this. */
const GATE_SHIFT: f32 = 2;

/** Who has just spoken goes on more likely than somebody else begins: known after 0.1 s, forgotten after 0.5 s. */
const NEAR_RISES: f32 = 0.1;
const NEAR_FALLS: f32 = 0.02;
const NEAR_MOVED: f32 = 6;
const NEAR_MIDDLE: f32 = 0.3;

/** While the gate is open this share of everything stays: what is taken away entirely leaves holes in a voice. */
const LEAST_GAIN: f32 = 0.04;

/** A second of music on hold closes the output, a few hundredths of a second of a voice open it again, doubt does neither. */
const HOLD_RISES: f32 = 0.01;
const HOLD_RISES_MOST: f32 = 0.01;
const HOLD_FALLS: f32 = 0.15;
const HOLD_FALLS_MOST: f32 = 0.3;
const HOLD_DOUBT: f32 = 3;
const HOLD_BEGINS: f32 = 1;
const HOLD_CLOSED: f32 = 1.4;
const HOLD_MOST: f32 = 1.6;
const HOLD_LEFT: f32 = 0.01;

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

/** Prepares what `runFrames` leaves out at rates below 16 kHz. */
export function sumBlank(model: Model, plan: Plan): void {
  if (plan.blankFrom === LAST_FEATURES || plan.blankSums !== 0) return;
  plan.blankSums = takeFloats(FRAMES_SEEN * model.conv);
  for (let frame = 0; frame < FRAMES_SEEN; frame++) {
    const weights = model.frames + columnOffset(frame * FEATURES + plan.blankFrom);
    const sums = plan.blankSums + (<usize>(frame * model.conv) << 2);
    sumRows(weights, FRAMES_SEEN * FEATURES, sums, model.conv, LAST_FEATURES - plan.blankFrom);
  }
}

/** The layer that sees three frames. Where all features are one value, the sum of their weights serves for all. */
function runFrames(model: Model, plan: Plan, features: usize, layer: usize): void {
  const width = FRAMES_SEEN * FEATURES;
  if (plan.blankFrom === LAST_FEATURES) {
    multiply(model.frames, model.framesBias, features, layer, model.conv, width);
    return;
  }
  let bias = model.framesBias;
  for (let frame = 0; frame < FRAMES_SEEN; frame++) {
    const blank = load<f32>(features + (<usize>(frame * FEATURES + plan.blankFrom) << 2));
    addScaled(bias, plan.blankSums + (<usize>(frame * model.conv) << 2), blank, layer, model.conv);
    bias = layer;
  }
  // What follows the blank ones in a frame lies beside the beginning of the next.
  for (let from = LAST_FEATURES - FEATURES; from < width; from += FEATURES) {
    const column = max(0, from);
    const count = min(width, from + FEATURES - LAST_FEATURES + plan.blankFrom) - column;
    const weights = model.frames + columnOffset(column);
    multiplyPart(weights, width, layer, features + (<usize>column << 2), layer, model.conv, count);
  }
}

// @ts-ignore: decorator
@inline
function likely(logit: f32): f32 {
  return f32x4.extract_lane(sigmoid(f32x4.splat(logit)), 0);
}

/** The near talker's logit, moved by how likely it spoke of late, which `recent` remembers. */
function remembering(recent: usize, logit: f32): f32 {
  const before = load<f32>(recent);
  const change = likely(logit) - before;
  store<f32>(recent, before + change * (change > 0 ? NEAR_RISES : NEAR_FALLS));
  return logit + NEAR_MOVED * (before - NEAR_MIDDLE);
}

/** What is left of the output while music is played to who is on hold; `sum` remembers how long it has been. */
function holdGate(sum: usize, logit: f32): f32 {
  const change = logit > 0 ? logit * HOLD_RISES : min<f32>(0, logit + HOLD_DOUBT) * HOLD_FALLS;
  const step = max(-HOLD_FALLS_MOST, min(HOLD_RISES_MOST, change));
  const total = max<f32>(0, min(HOLD_MOST, load<f32>(sum) + step));
  store<f32>(sum, total);
  const open = max<f32>(0, min<f32>(1, (HOLD_CLOSED - total) / (HOLD_CLOSED - HOLD_BEGINS)));
  return HOLD_LEFT + (1 - HOLD_LEFT) * open;
}

/** How surely it is music on hold that is heard; the listener has a memory of its own. */
function listenForMusic(model: Model, layers: usize, listener: usize): f32 {
  const inputs = model.conv + 2 * model.hidden;
  memory.copy(listener, layers, <usize>inputs << 2);
  recur(model.listener, listener, inputs, model.holdHidden);
  const values = listener + (<usize>inputs << 2);
  multiply(model.hold, model.holdBias, values, holdOutputs, HOLD_OUTPUTS, model.holdHidden);
  return load<f32>(holdOutputs);
}

/**
 * Writes a gain to `gains` for each frequency of the plan that the network sees, and per band to `bandGains` where there
 * are others; returns how likely the near talker speaks.
 */
export function runNetwork(
  model: Model,
  plan: Plan,
  features: usize,
  layers: usize,
  listener: usize,
  remembered: usize,
  gains: usize,
  bandGains: usize,
): f32 {
  const first = layers + (<usize>model.conv << 2);
  const bins = plan.size / 2 + 1;
  runFrames(model, plan, features, layers);
  prelu(layers, model.framesSlope, model.conv);
  recur(model.first, layers, model.conv, model.hidden);
  recur(model.second, first, model.hidden, model.hidden);
  const heard = bins < LAST_OUTPUTS ? (bins + 3) & ~3 : LAST_OUTPUTS;
  runOutputs(model, first, 0, heard);
  runOutputs(model, first, LAST_OUTPUTS, OUTPUTS - LAST_OUTPUTS);
  const logit = remembering(remembered, load<f32>(outputs + (BINS << 2)));
  const held = holdGate(remembered + 4, listenForMusic(model, layers, listener));
  const gate = f32x4.splat(held * likely(logit + GATE_SHIFT));
  const end = bins < LAST_OUTPUTS ? heard : OUTPUTS;
  const least = f32x4.mul(gate, f32x4.splat(LEAST_GAIN));
  const most = f32x4.sub(gate, least);
  for (let at: usize = 0; at < <usize>end << 2; at += 16)
    v128.store(gains + at, f32x4.add(least, f32x4.mul(most, sigmoid(v128.load(outputs + at)))));
  if (model.bands > 0 && bins > BINS) runBands(model, first, bandGains, gate);
  return held * likely(logit);
}

function runOutputs(model: Model, first: usize, from: i32, count: i32): void {
  const columns = 2 * model.hidden;
  const weights = model.output + (<usize>(from * columns) << 1);
  const bytes = <usize>from << 2;
  multiply(weights, model.outputBias + bytes, first, outputs + bytes, count, columns);
}

function runBands(model: Model, first: usize, bandGains: usize, gate: v128): void {
  const inputs = 2 * model.hidden + 3 * model.bands;
  multiply(model.bandFrames, model.bandFramesBias, first, bandLayer, model.bandHidden, inputs);
  prelu(bandLayer, model.bandFramesSlope, model.bandHidden);
  multiply(model.bandOutput, model.bandOutputBias, bandLayer, bandSums, model.bands, model.bandHidden);
  for (let at: usize = 0; at < <usize>model.bands << 2; at += 16)
    v128.store(bandGains + at, f32x4.mul(gate, sigmoid(v128.load(bandSums + at))));
}
