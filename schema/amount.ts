/**
 * Money, in atomic units: 6 decimals of USDC, 30 of XNO. Never a float, never `Number()`:
 * 2^53 atomic USDC is reachable, and one XNO alone is 10^30 raw.
 */
declare const atomic: unique symbol;
export type AtomicAmount = bigint & { readonly [atomic]: true };

const DIGITS = /^(0|[1-9][0-9]{0,77})$/;

/** Parses a decimal string of digits without sign, point or leading zero. Null if the text is anything else. */
export function parseAtomic(text: string): AtomicAmount | null {
  return DIGITS.test(text) ? (BigInt(text) as AtomicAmount) : null;
}

export function atomicAmount(value: bigint): AtomicAmount {
  if (value < 0n) throw new RangeError(`an amount is never negative: ${value}`);
  return value as AtomicAmount;
}

/** The rest of a ceiling: `max(0, ceiling - spent)`. */
export function remainder(ceiling: AtomicAmount, spent: AtomicAmount): AtomicAmount {
  return atomicAmount(ceiling > spent ? ceiling - spent : 0n);
}

/** For display only ("0.002 USDC"); programs use the atomic string. */
export function formatUsdc(amount: AtomicAmount): string {
  const text = amount.toString().padStart(7, '0');
  return `${text.slice(0, -6)}.${text.slice(-6).replace(/0{1,4}$/, '')} USDC`;
}
