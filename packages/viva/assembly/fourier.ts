// Fourier transform of real signals by one complex transform of half their length: Stockham's order,
// radices 4, 3 and 2. Tables are made by the host (src/spectrum-plan.ts), stage after stage as they are read.

/** A complex transform of `count` points, from (re, im) to (re, im); (re2, im2) is room to work. */
export function transform(
  re: usize,
  im: usize,
  re2: usize,
  im2: usize,
  count: i32,
  stages: usize,
  stageCount: i32,
  twiddles: usize,
): void {
  let fromRe = re;
  let fromIm = im;
  let toRe = re2;
  let toIm = im2;
  let stride = 1;
  let length = count;
  for (let stage = 0; stage < stageCount; stage++) {
    const radix = load<i32>(stages + (<usize>stage << 2));
    length /= radix;
    if (stage == 0) firstOfFour(fromRe, fromIm, toRe, toIm, length, twiddles);
    else if (radix == 4) four(fromRe, fromIm, toRe, toIm, length, stride, twiddles);
    else if (radix == 3) three(fromRe, fromIm, toRe, toIm, length, stride, twiddles);
    else two(fromRe, fromIm, toRe, toIm, length, stride, twiddles);
    twiddles += <usize>(length * (radix - 1)) << 3;
    stride *= radix;
    let swap = fromRe;
    fromRe = toRe;
    toRe = swap;
    swap = fromIm;
    fromIm = toIm;
    toIm = swap;
  }
  if (fromRe != re) {
    memory.copy(re, fromRe, <usize>count << 2);
    memory.copy(im, fromIm, <usize>count << 2);
  }
}

/** The first stage, where neighbours belong to different butterflies: one at a time. */
function firstOfFour(re: usize, im: usize, toRe: usize, toIm: usize, length: i32, w: usize): void {
  const step = <usize>length << 2;
  for (let p = 0; p < length; p++) {
    const at = <usize>p << 2;
    const aRe = load<f32>(re + at);
    const aIm = load<f32>(im + at);
    const bRe = load<f32>(re + at + step);
    const bIm = load<f32>(im + at + step);
    const cRe = load<f32>(re + at + 2 * step);
    const cIm = load<f32>(im + at + 2 * step);
    const dRe = load<f32>(re + at + 3 * step);
    const dIm = load<f32>(im + at + 3 * step);
    const sumRe = aRe + cRe;
    const sumIm = aIm + cIm;
    const differenceRe = aRe - cRe;
    const differenceIm = aIm - cIm;
    const otherSumRe = bRe + dRe;
    const otherSumIm = bIm + dIm;
    const otherRe = bIm - dIm; // −i (b − d)
    const otherIm = dRe - bRe;
    const to = at << 2;
    store<f32>(toRe + to, sumRe + otherSumRe);
    store<f32>(toIm + to, sumIm + otherSumIm);
    storeRotated(toRe + to + 4, toIm + to + 4, differenceRe + otherRe, differenceIm + otherIm, w);
    storeRotated(toRe + to + 8, toIm + to + 8, sumRe - otherSumRe, sumIm - otherSumIm, w + 8);
    storeRotated(toRe + to + 12, toIm + to + 12, differenceRe - otherRe, differenceIm - otherIm, w + 16);
    w += 24;
  }
}

// @ts-ignore: decorator
@inline
function storeRotated(toRe: usize, toIm: usize, re: f32, im: f32, w: usize): void {
  const wRe = load<f32>(w);
  const wIm = load<f32>(w, 4);
  store<f32>(toRe, re * wRe - im * wIm);
  store<f32>(toIm, re * wIm + im * wRe);
}

// @ts-ignore: decorator
@inline
function storeFourRotated(toRe: usize, toIm: usize, re: v128, im: v128, w: usize): void {
  const wRe = v128.load32_splat(w);
  const wIm = v128.load32_splat(w, 4);
  v128.store(toRe, f32x4.sub(f32x4.mul(re, wRe), f32x4.mul(im, wIm)));
  v128.store(toIm, f32x4.add(f32x4.mul(re, wIm), f32x4.mul(im, wRe)));
}

function four(re: usize, im: usize, toRe: usize, toIm: usize, length: i32, stride: i32, w: usize): void {
  const row = <usize>stride << 2;
  const step = <usize>length * row;
  for (let p = 0; p < length; p++) {
    const from = <usize>p * row;
    const to = from << 2;
    for (let q: usize = 0; q < row; q += 16) {
      const x = re + from + q;
      const y = im + from + q;
      const aRe = v128.load(x);
      const aIm = v128.load(y);
      const bRe = v128.load(x + step);
      const bIm = v128.load(y + step);
      const cRe = v128.load(x + 2 * step);
      const cIm = v128.load(y + 2 * step);
      const dRe = v128.load(x + 3 * step);
      const dIm = v128.load(y + 3 * step);
      const sumRe = f32x4.add(aRe, cRe);
      const sumIm = f32x4.add(aIm, cIm);
      const differenceRe = f32x4.sub(aRe, cRe);
      const differenceIm = f32x4.sub(aIm, cIm);
      const otherSumRe = f32x4.add(bRe, dRe);
      const otherSumIm = f32x4.add(bIm, dIm);
      const otherRe = f32x4.sub(bIm, dIm);
      const otherIm = f32x4.sub(dRe, bRe);
      const u = toRe + to + q;
      const v = toIm + to + q;
      v128.store(u, f32x4.add(sumRe, otherSumRe));
      v128.store(v, f32x4.add(sumIm, otherSumIm));
      storeFourRotated(
        u + row,
        v + row,
        f32x4.add(differenceRe, otherRe),
        f32x4.add(differenceIm, otherIm),
        w,
      );
      storeFourRotated(
        u + 2 * row,
        v + 2 * row,
        f32x4.sub(sumRe, otherSumRe),
        f32x4.sub(sumIm, otherSumIm),
        w + 8,
      );
      storeFourRotated(
        u + 3 * row,
        v + 3 * row,
        f32x4.sub(differenceRe, otherRe),
        f32x4.sub(differenceIm, otherIm),
        w + 16,
      );
    }
    w += 24;
  }
}

function three(re: usize, im: usize, toRe: usize, toIm: usize, length: i32, stride: i32, w: usize): void {
  const half = f32x4.splat(0.5);
  const sine = f32x4.splat(0.8660254);
  const row = <usize>stride << 2;
  const step = <usize>length * row;
  for (let p = 0; p < length; p++) {
    const from = <usize>p * row;
    const to = from * 3;
    for (let q: usize = 0; q < row; q += 16) {
      const x = re + from + q;
      const y = im + from + q;
      const aRe = v128.load(x);
      const aIm = v128.load(y);
      const bRe = v128.load(x + step);
      const bIm = v128.load(y + step);
      const cRe = v128.load(x + 2 * step);
      const cIm = v128.load(y + 2 * step);
      const sumRe = f32x4.add(bRe, cRe);
      const sumIm = f32x4.add(bIm, cIm);
      const middleRe = f32x4.sub(aRe, f32x4.mul(sumRe, half));
      const middleIm = f32x4.sub(aIm, f32x4.mul(sumIm, half));
      const turnRe = f32x4.mul(f32x4.sub(bIm, cIm), sine); // −i sin 60° (b − c)
      const turnIm = f32x4.mul(f32x4.sub(cRe, bRe), sine);
      const u = toRe + to + q;
      const v = toIm + to + q;
      v128.store(u, f32x4.add(aRe, sumRe));
      v128.store(v, f32x4.add(aIm, sumIm));
      storeFourRotated(u + row, v + row, f32x4.add(middleRe, turnRe), f32x4.add(middleIm, turnIm), w);
      storeFourRotated(
        u + 2 * row,
        v + 2 * row,
        f32x4.sub(middleRe, turnRe),
        f32x4.sub(middleIm, turnIm),
        w + 8,
      );
    }
    w += 16;
  }
}

function two(re: usize, im: usize, toRe: usize, toIm: usize, length: i32, stride: i32, w: usize): void {
  const row = <usize>stride << 2;
  const step = <usize>length * row;
  for (let p = 0; p < length; p++) {
    const from = <usize>p * row;
    const to = from << 1;
    for (let q: usize = 0; q < row; q += 16) {
      const x = re + from + q;
      const y = im + from + q;
      const aRe = v128.load(x);
      const aIm = v128.load(y);
      const bRe = v128.load(x + step);
      const bIm = v128.load(y + step);
      const u = toRe + to + q;
      const v = toIm + to + q;
      v128.store(u, f32x4.add(aRe, bRe));
      v128.store(v, f32x4.add(aIm, bIm));
      storeFourRotated(u + row, v + row, f32x4.sub(aRe, bRe), f32x4.sub(aIm, bIm), w);
    }
    w += 8;
  }
}

/**
 * The half-length transform of a real signal's even and odd samples becomes its spectrum, in place.
 * `turns` are e^(−πik/half) for k = 0 … half. Entry `half` is the highest frequency.
 */
export function splitSpectrum(re: usize, im: usize, half: i32, turns: usize): void {
  const firstRe = load<f32>(re);
  const firstIm = load<f32>(im);
  store<f32>(re, firstRe + firstIm);
  store<f32>(im, 0);
  store<f32>(re + (<usize>half << 2), firstRe - firstIm);
  store<f32>(im + (<usize>half << 2), 0);
  for (let k = 1; k <= half >> 1; k++) {
    const a = <usize>k << 2;
    const b = <usize>(half - k) << 2;
    const aRe = load<f32>(re + a);
    const aIm = load<f32>(im + a);
    const bRe = load<f32>(re + b);
    const bIm = load<f32>(im + b);
    const evenRe: f32 = 0.5 * (aRe + bRe);
    const evenIm: f32 = 0.5 * (aIm - bIm);
    const oddRe: f32 = 0.5 * (aIm + bIm);
    const oddIm: f32 = 0.5 * (bRe - aRe);
    const wRe = load<f32>(turns + (<usize>k << 3));
    const wIm = load<f32>(turns + (<usize>k << 3), 4);
    const turnedRe = oddRe * wRe - oddIm * wIm;
    const turnedIm = oddRe * wIm + oddIm * wRe;
    store<f32>(re + a, evenRe + turnedRe);
    store<f32>(im + a, evenIm + turnedIm);
    store<f32>(re + b, evenRe - turnedRe);
    store<f32>(im + b, turnedIm - evenIm);
  }
}

/** The way back: a spectrum of half + 1 entries becomes what the half-length inverse transform wants. */
export function joinSpectrum(re: usize, im: usize, half: i32, turns: usize): void {
  const lowest = load<f32>(re);
  const highest = load<f32>(re + (<usize>half << 2));
  store<f32>(re, 0.5 * (lowest + highest));
  store<f32>(im, 0.5 * (lowest - highest));
  for (let k = 1; k <= half >> 1; k++) {
    const a = <usize>k << 2;
    const b = <usize>(half - k) << 2;
    const aRe = load<f32>(re + a);
    const aIm = load<f32>(im + a);
    const bRe = load<f32>(re + b);
    const bIm = load<f32>(im + b);
    const evenRe: f32 = 0.5 * (aRe + bRe);
    const evenIm: f32 = 0.5 * (aIm - bIm);
    const turnedRe: f32 = 0.5 * (aRe - bRe);
    const turnedIm: f32 = 0.5 * (aIm + bIm);
    const wRe = load<f32>(turns + (<usize>k << 3));
    const wIm = load<f32>(turns + (<usize>k << 3), 4);
    const oddRe = turnedRe * wRe + turnedIm * wIm;
    const oddIm = turnedIm * wRe - turnedRe * wIm;
    store<f32>(re + a, evenRe - oddIm);
    store<f32>(im + a, evenIm + oddRe);
    store<f32>(re + b, evenRe + oddIm);
    store<f32>(im + b, oddRe - evenIm);
  }
}
