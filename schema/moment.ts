/**
 * Whether a moment is of the years 1 to 9999 (UTC), which four digits spell: Postgres knows no year 0, and beyond 9999 its
 * spelling and that of JavaScript differ.
 */
export function isOfFourDigits(moment: Date): boolean {
  const year = moment.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

export const FOUR_DIGITS = 'is not of the years 1 to 9999 (UTC)';
