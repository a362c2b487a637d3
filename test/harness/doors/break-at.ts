import type { Faults } from '../../../gateway/operations/faults.ts';

/**
 * Faults for one service: the n-th claimed call fails at the n-th of these points, and a call without a point does not
 * fail. For calls that come one after the other.
 */
export function breakAt(points: readonly string[]): Faults {
  const left = [...points];
  let breaks_at: string | undefined;
  return {
    async reach(point) {
      if (point === 'after_claim') breaks_at = left.shift();
      if (point === breaks_at) throw new Error(`the drawer is stuck ${point}`);
    },
  };
}
