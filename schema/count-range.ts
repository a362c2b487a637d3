/**
 * A number as strangers are told it: `0`, `1-9`, `10-99`, `100-999` and so on. One row more or less does not show, but where
 * it is the one that fills a range.
 */
export function countRange(number: bigint): string {
  if (number <= 0n) return '0';
  const lowest = 10n ** BigInt(number.toString().length - 1);
  return `${lowest}-${lowest * 10n - 1n}`;
}

/** What it looks like, for whoever reads it. */
export const COUNT_RANGE = /^(0|10*-9+)$/;
