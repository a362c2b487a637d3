/** Limits of what is told of a row's lineage, units last in each name; a page of descendants is one of rows (limits.ts). */
export const lineageLimits = {
  /** How many steps it is followed, up and down. */
  steps_max: 1_000,
  /** Of one row: the first in the order of the book. Each of them has descendants of its own to ask for. */
  descendants_max: 10_000,
} as const;
