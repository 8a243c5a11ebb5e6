// The inner loop of src/resample.ts on vectors of four. Compiled by build-kernel.ts.

/** Writes `count` samples of 16 bit; `input` is where the next output's first tap is. */
export function resample(
  coefficients: usize,
  taps: i32,
  up: i32,
  down: i32,
  phase: i32,
  input: usize,
  output: usize,
  count: i32,
): void {
  const rowBytes: usize = usize(taps) << 2;
  const wholeSteps = down / up;
  const restSteps = down % up;
  for (let i = 0; i < count; i++) {
    let row = coefficients + usize(phase) * rowBytes;
    const end = row + rowBytes;
    let at = input;
    let even = f32x4.splat(0);
    let odd = f32x4.splat(0);
    if (taps & 4) {
      even = f32x4.mul(v128.load(row), v128.load(at));
      row += 16;
      at += 16;
    }
    while (row < end) {
      even = f32x4.add(even, f32x4.mul(v128.load(row), v128.load(at)));
      odd = f32x4.add(odd, f32x4.mul(v128.load(row, 16), v128.load(at, 16)));
      row += 32;
      at += 32;
    }
    const sums = f32x4.add(even, odd);
    const sum =
      f32x4.extract_lane(sums, 0) +
      f32x4.extract_lane(sums, 1) +
      (f32x4.extract_lane(sums, 2) + f32x4.extract_lane(sums, 3));
    store<i16>(output + (usize(i) << 1), i16(nearest(min(max(sum, -32768), 32767))));
    phase += restSteps;
    input += usize(wholeSteps) << 2;
    if (phase >= up) {
      phase -= up;
      input += 4;
    }
  }
}
