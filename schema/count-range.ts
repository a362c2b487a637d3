/**
 * A number as it is shown in public: `0`, `1-9`, `10-99`, `100-999` and so on. One row more does not show, except when it completes
 * a range.
 */
export function countRange(number: bigint): string {
  if (number <= 0n) return '0';
  const lowest = 10n ** BigInt(number.toString().length - 1);
  return `${lowest}-${lowest * 10n - 1n}`;
}

/** Form of such a range. */
export const COUNT_RANGE = /^(0|10*-9+)$/;
