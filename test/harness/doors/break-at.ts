import type { Faults } from '../../../gateway/operations/faults.ts';

/**
 * Faults of a service: the n-th claimed call fails at the n-th of these points. Further calls do not fail. The calls must come one after
 * the other.
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
