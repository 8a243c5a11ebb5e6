// Weights are bfloat16: the upper half of a float32, so that a shift or a mask makes floats of them.
// In each group of eight they are stored as 0 4 1 5 2 6 3 7: the shift gives 0…3, the mask 4…7.

/** output = weights · input + bias. `rows` is a multiple of 4, `columns` of 8. */
export function multiply(
  weights: usize,
  bias: usize,
  input: usize,
  output: usize,
  rows: i32,
  columns: i32,
): void {
  multiplyPart(weights, columns, bias, input, output, rows, columns);
}

/** The same with some columns of a matrix whose rows have `width`; `bias` may be what is in `output`. */
export function multiplyPart(
  weights: usize,
  width: i32,
  bias: usize,
  input: usize,
  output: usize,
  rows: i32,
  columns: i32,
): void {
  const upper = i32x4.splat(0xffff0000);
  const stride = <usize>width << 1;
  for (let row = 0; row < rows; row += 4) {
    let w0 = weights + <usize>row * stride;
    let w1 = w0 + stride;
    let w2 = w1 + stride;
    let w3 = w2 + stride;
    let sum0 = f32x4.splat(0);
    let sum1 = f32x4.splat(0);
    let sum2 = f32x4.splat(0);
    let sum3 = f32x4.splat(0);
    const end = input + (<usize>columns << 2);
    for (let x = input; x < end; x += 32) {
      const low = v128.load(x);
      const high = v128.load(x, 16);
      let pairs = v128.load(w0);
      sum0 = f32x4.add(sum0, f32x4.mul(low, i32x4.shl(pairs, 16)));
      sum0 = f32x4.add(sum0, f32x4.mul(high, v128.and(pairs, upper)));
      pairs = v128.load(w1);
      sum1 = f32x4.add(sum1, f32x4.mul(low, i32x4.shl(pairs, 16)));
      sum1 = f32x4.add(sum1, f32x4.mul(high, v128.and(pairs, upper)));
      pairs = v128.load(w2);
      sum2 = f32x4.add(sum2, f32x4.mul(low, i32x4.shl(pairs, 16)));
      sum2 = f32x4.add(sum2, f32x4.mul(high, v128.and(pairs, upper)));
      pairs = v128.load(w3);
      sum3 = f32x4.add(sum3, f32x4.mul(low, i32x4.shl(pairs, 16)));
      sum3 = f32x4.add(sum3, f32x4.mul(high, v128.and(pairs, upper)));
      w0 += 16;
      w1 += 16;
      w2 += 16;
      w3 += 16;
    }
    // Transposes the four sums, so that one addition tree ends all four rows.
    const even01 = i32x4.shuffle(sum0, sum1, 0, 4, 2, 6);
    const odd01 = i32x4.shuffle(sum0, sum1, 1, 5, 3, 7);
    const even23 = i32x4.shuffle(sum2, sum3, 0, 4, 2, 6);
    const odd23 = i32x4.shuffle(sum2, sum3, 1, 5, 3, 7);
    const pair01 = f32x4.add(even01, odd01);
    const pair23 = f32x4.add(even23, odd23);
    const sums = f32x4.add(
      i32x4.shuffle(pair01, pair23, 0, 1, 4, 5),
      i32x4.shuffle(pair01, pair23, 2, 3, 6, 7),
    );
    const at = <usize>row << 2;
    v128.store(output + at, f32x4.add(sums, v128.load(bias + at)));
  }
}

/** Adds up `columns` of each row, at whichever place in its groups of eight a weight lies. */
export function sumRows(weights: usize, width: i32, output: usize, rows: i32, columns: i32): void {
  for (let row = 0; row < rows; row++) {
    const from = weights + (<usize>(row * width) << 1);
    let sum: f32 = 0;
    for (let column: usize = 0; column < <usize>columns; column++)
      sum += reinterpret<f32>(<u32>load<u16>(from + (column << 1)) << 16);
    store<f32>(output + (<usize>row << 2), sum);
  }
}

/** output = bias + row · factor */
export function addScaled(bias: usize, row: usize, factor: f32, output: usize, count: i32): void {
  const factors = f32x4.splat(factor);
  for (let at: usize = 0; at < <usize>count << 2; at += 16)
    v128.store(
      output + at,
      f32x4.add(v128.load(bias + at), f32x4.mul(factors, v128.load(row + at))),
    );
}

/** values = values > 0 ? values : values · slope */
export function prelu(values: usize, slopes: usize, count: i32): void {
  const zero = f32x4.splat(0);
  for (let at: usize = 0; at < <usize>count << 2; at += 16) {
    const value = v128.load(values + at);
    const scaled = f32x4.mul(value, v128.load(slopes + at));
    v128.store(values + at, v128.bitselect(value, scaled, f32x4.gt(value, zero)));
  }
}
