// Weights are bfloat16: the upper half of a float32, so that a shift or a mask makes floats of them.
// In each group of eight they are stored as 0 4 1 5 2 6 3 7: the shift gives 0…3, the mask 4…7.
// Four rows lie beside one another, eight columns of each in turn: a step reads a whole line of the cache, one after another.

/** Rows that lie beside one another. */
const ROWS: usize = 4;
const LINE: usize = 64;
const PART: usize = LINE / ROWS;

/** Lays the rows of a model file's matrix as `multiply` reads them; `spare` takes four of them. */
export function interleave(weights: usize, spare: usize, rows: i32, columns: i32): void {
  const row = <usize>columns << 1;
  const end = weights + <usize>rows * row;
  for (let group = weights; group < end; group += ROWS * row) {
    memory.copy(spare, group, ROWS * row);
    for (let at: usize = 0; at < ROWS; at++)
      for (let part: usize = 0; part < row; part += PART)
        v128.store(group + part * ROWS + at * PART, v128.load(spare + at * row + part));
  }
}

/** How many bytes after the first column another begins: a multiple of eight. */
export function columnOffset(column: i32): usize {
  return <usize>column << 3;
}

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
  const stride = columnOffset(width);
  for (let row = 0; row < rows; row += 4) {
    let line = weights + <usize>(row >> 2) * stride;
    let low0 = f32x4.splat(0);
    let low1 = f32x4.splat(0);
    let low2 = f32x4.splat(0);
    let low3 = f32x4.splat(0);
    let high0 = f32x4.splat(0);
    let high1 = f32x4.splat(0);
    let high2 = f32x4.splat(0);
    let high3 = f32x4.splat(0);
    const end = input + (<usize>columns << 2);
    for (let x = input; x < end; x += 32) {
      const low = v128.load(x);
      const high = v128.load(x, 16);
      let pairs = v128.load(line);
      low0 = f32x4.relaxed_madd(low, i32x4.shl(pairs, 16), low0);
      high0 = f32x4.relaxed_madd(high, v128.and(pairs, upper), high0);
      pairs = v128.load(line, 16);
      low1 = f32x4.relaxed_madd(low, i32x4.shl(pairs, 16), low1);
      high1 = f32x4.relaxed_madd(high, v128.and(pairs, upper), high1);
      pairs = v128.load(line, 32);
      low2 = f32x4.relaxed_madd(low, i32x4.shl(pairs, 16), low2);
      high2 = f32x4.relaxed_madd(high, v128.and(pairs, upper), high2);
      pairs = v128.load(line, 48);
      low3 = f32x4.relaxed_madd(low, i32x4.shl(pairs, 16), low3);
      high3 = f32x4.relaxed_madd(high, v128.and(pairs, upper), high3);
      line += LINE;
    }
    const sum0 = f32x4.add(low0, high0);
    const sum1 = f32x4.add(low1, high1);
    const sum2 = f32x4.add(low2, high2);
    const sum3 = f32x4.add(low3, high3);
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
    const from = weights + <usize>(row >> 2) * columnOffset(width) + <usize>(row & 3) * PART;
    let sum: f32 = 0;
    for (let column = 0; column < columns; column++) {
      const at = from + columnOffset(column & ~7) + (<usize>(column & 7) << 1);
      sum += reinterpret<f32>(<u32>load<u16>(at) << 16);
    }
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
