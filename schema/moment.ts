/**
 * Whether a time is in the years 1 to 9999 (UTC), which have four digits: Postgres has no year 0, and beyond 9999 its format differs from
 * JavaScript's.
 */
export function isOfFourDigits(moment: Date): boolean {
  const year = moment.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

export const FOUR_DIGITS = 'is not of the years 1 to 9999 (UTC)';
