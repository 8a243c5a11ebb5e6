// Four values at a time. Plain polynomials, no fused operations: every machine gives the same bits.

const LOG2_E: f32 = 1.44269504;
const LN2_HIGH: f32 = 0.693359375;
const LN2_LOW: f32 = -2.12194440e-4;

// @ts-ignore: decorator
@inline
export function exp(x: v128): v128 {
  x = f32x4.min(f32x4.max(x, f32x4.splat(-87)), f32x4.splat(88));
  const power = f32x4.nearest(f32x4.mul(x, f32x4.splat(LOG2_E)));
  x = f32x4.sub(x, f32x4.mul(power, f32x4.splat(LN2_HIGH)));
  x = f32x4.sub(x, f32x4.mul(power, f32x4.splat(LN2_LOW)));
  let y = f32x4.splat(1.9875691e-4);
  y = f32x4.add(f32x4.mul(y, x), f32x4.splat(1.3981999e-3));
  y = f32x4.add(f32x4.mul(y, x), f32x4.splat(8.3334519e-3));
  y = f32x4.add(f32x4.mul(y, x), f32x4.splat(4.1665796e-2));
  y = f32x4.add(f32x4.mul(y, x), f32x4.splat(1.6666666e-1));
  y = f32x4.add(f32x4.mul(y, x), f32x4.splat(0.5));
  y = f32x4.add(f32x4.add(f32x4.mul(y, f32x4.mul(x, x)), x), f32x4.splat(1));
  const exponent = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(power), i32x4.splat(127)), 23);
  return f32x4.mul(y, exponent);
}

// @ts-ignore: decorator
@inline
export function sigmoid(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, exp(f32x4.neg(x))));
}

// @ts-ignore: decorator
@inline
export function tanh(x: v128): v128 {
  const two = f32x4.splat(2);
  return f32x4.sub(f32x4.mul(two, sigmoid(f32x4.mul(two, x))), f32x4.splat(1));
}

/** Natural logarithm of positive, normal values. */
// @ts-ignore: decorator
@inline
export function log(x: v128): v128 {
  const one = f32x4.splat(1);
  // x = mantissa · 2^exponent with the mantissa in √½ … √2, where the polynomial is best.
  let exponent = f32x4.convert_i32x4_s(i32x4.sub(i32x4.shr_u(x, 23), i32x4.splat(126)));
  let mantissa = v128.or(v128.and(x, i32x4.splat(0x007fffff)), i32x4.splat(0x3f000000));
  const small = f32x4.lt(mantissa, f32x4.splat(0.707106781));
  exponent = f32x4.sub(exponent, v128.and(one, small));
  mantissa = f32x4.sub(f32x4.add(mantissa, v128.and(mantissa, small)), one);
  const square = f32x4.mul(mantissa, mantissa);
  let y = f32x4.splat(7.0376836e-2);
  y = f32x4.add(f32x4.mul(y, mantissa), f32x4.splat(-1.1514610e-1));
  y = f32x4.add(f32x4.mul(y, mantissa), f32x4.splat(1.1676998e-1));
  y = f32x4.add(f32x4.mul(y, mantissa), f32x4.splat(-1.2420141e-1));
  y = f32x4.add(f32x4.mul(y, mantissa), f32x4.splat(1.4249323e-1));
  y = f32x4.add(f32x4.mul(y, mantissa), f32x4.splat(-1.6668057e-1));
  y = f32x4.add(f32x4.mul(y, mantissa), f32x4.splat(2.0000714e-1));
  y = f32x4.add(f32x4.mul(y, mantissa), f32x4.splat(-2.4999994e-1));
  y = f32x4.add(f32x4.mul(y, mantissa), f32x4.splat(3.3333331e-1));
  y = f32x4.mul(f32x4.mul(y, mantissa), square);
  y = f32x4.add(y, f32x4.mul(exponent, f32x4.splat(LN2_LOW)));
  y = f32x4.sub(y, f32x4.mul(square, f32x4.splat(0.5)));
  return f32x4.add(f32x4.add(mantissa, y), f32x4.mul(exponent, f32x4.splat(LN2_HIGH)));
}
