/** Per organisation and month. */
export const FREE_MINUTES = 10_000;
export const MICRO_DOLLARS_PER_MINUTE = 1_500;

const MICRO_DOLLARS_PER_CENT = 10_000;

export interface Price {
  minutes: number;
  billableMinutes: number;
  microDollars: number;
  /** Rounding of the invoice total, half up. */
  cents: number;
}

/** Price of all seconds of an organisation in a month together, never of a single session. */
export function priceOf(seconds: number): Price {
  const minutes = Math.ceil(seconds / 60);
  const billableMinutes = Math.max(0, minutes - FREE_MINUTES);
  const microDollars = billableMinutes * MICRO_DOLLARS_PER_MINUTE;
  return { minutes, billableMinutes, microDollars, cents: toCents(microDollars) };
}

export function toCents(microDollars: number): number {
  return Math.floor((microDollars + MICRO_DOLLARS_PER_CENT / 2) / MICRO_DOLLARS_PER_CENT);
}

/** `0.0015`: exact, because every price is a multiple of a hundredth of a cent. */
export function toExactUsd(microDollars: number): string {
  return decimal(microDollars / 100, 4);
}

/** `7.50` */
export function toInvoiceUsd(cents: number): string {
  return decimal(cents, 2);
}

function decimal(units: number, places: number): string {
  const digits = String(units).padStart(places + 1, "0");
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}
