import { interleave } from "./matrix";
import { take, takeFloats } from "./room";

/** Frequencies the network sees: 0 … 8 kHz in steps of 31.25 Hz. */
export const BINS: i32 = 257;
/** Of one frame: log powers, peak level, level; then zeros up to a multiple of eight. */
export const FEATURES: i32 = 264;
export const FRAMES_SEEN: i32 = 3;
/** Of the features, from where on they are not log powers alone. */
export const LAST_FEATURES: i32 = 256;
/** A gain per bin and the near talker's logit, up to a multiple of four. */
export const OUTPUTS: i32 = 260;
/** Rows that are multiplied at once; of the layer that ends the listener for music on hold, one counts. */
export const HOLD_OUTPUTS: i32 = 4;
/** Above 8 kHz `pro` gives one gain per 500 Hz. */
export const BAND_BINS: i32 = 16;

@unmanaged
export class Recurrent {
  gates: usize = 0;
  gatesBias: usize = 0;
  input: usize = 0;
  inputBias: usize = 0;
  hidden: usize = 0;
  hiddenBias: usize = 0;
}

/** Where the parts of a model file's payload lie; training/export.py writes them in this order. */
@unmanaged
export class Model {
  conv: i32 = 0;
  hidden: i32 = 0;
  holdHidden: i32 = 0;
  bands: i32 = 0;
  bandHidden: i32 = 0;
  frames: usize = 0;
  framesBias: usize = 0;
  framesSlope: usize = 0;
  first: usize = 0;
  second: usize = 0;
  output: usize = 0;
  outputBias: usize = 0;
  listener: usize = 0;
  hold: usize = 0;
  holdBias: usize = 0;
  bandFrames: usize = 0;
  bandFramesBias: usize = 0;
  bandFramesSlope: usize = 0;
  bandOutput: usize = 0;
  bandOutputBias: usize = 0;
}

let cursor: usize = 0;

/** Four rows of the widest matrix. */
const spare = takeFloats(2 * FRAMES_SEEN * FEATURES);

function matrix(rows: i32, columns: i32): usize {
  const at = cursor;
  cursor += <usize>(rows * columns) << 1;
  interleave(at, spare, rows, columns);
  return at;
}

function vector(count: i32): usize {
  const at = cursor;
  cursor += <usize>count << 2;
  return at;
}

function recurrent(inputs: i32, hidden: i32): usize {
  const at = take(offsetof<Recurrent>());
  const layer = changetype<Recurrent>(at);
  layer.gates = matrix(2 * hidden, inputs + hidden);
  layer.gatesBias = vector(2 * hidden);
  layer.input = matrix(hidden, inputs);
  layer.inputBias = vector(hidden);
  layer.hidden = matrix(hidden, hidden);
  layer.hiddenBias = vector(hidden);
  return at;
}

/** Describes the payload at `payload`. All sizes are multiples of eight. */
export function openModel(
  payload: usize,
  conv: i32,
  hidden: i32,
  holdHidden: i32,
  bands: i32,
  bandHidden: i32,
): usize {
  const at = take(offsetof<Model>());
  const model = changetype<Model>(at);
  model.conv = conv;
  model.hidden = hidden;
  model.holdHidden = holdHidden;
  model.bands = bands;
  model.bandHidden = bandHidden;
  cursor = payload;
  model.frames = matrix(conv, FRAMES_SEEN * FEATURES);
  model.framesBias = vector(conv);
  model.framesSlope = vector(conv);
  model.first = recurrent(conv, hidden);
  model.second = recurrent(hidden, hidden);
  model.output = matrix(OUTPUTS, 2 * hidden);
  model.outputBias = vector(OUTPUTS);
  model.listener = recurrent(conv + 2 * hidden, holdHidden);
  model.hold = matrix(HOLD_OUTPUTS, holdHidden);
  model.holdBias = vector(HOLD_OUTPUTS);
  if (bands > 0) {
    model.bandFrames = matrix(bandHidden, 2 * hidden + FRAMES_SEEN * bands);
    model.bandFramesBias = vector(bandHidden);
    model.bandFramesSlope = vector(bandHidden);
    model.bandOutput = matrix(bands, bandHidden);
    model.bandOutputBias = vector(bands);
  }
  return at;
}

/** Where the payload of the model opened last ends: the host compares it with what the file holds. */
export function payloadEnd(): usize {
  return cursor;
}
