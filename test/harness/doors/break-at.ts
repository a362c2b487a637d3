import type { Faults } from '../../../gateway/operations/faults.ts';

/**
 * A fault of its own for a service: the n-th call that is claimed breaks at the n-th of these points, and where nothing
 * stands there it does not. For calls that come one after the other.
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
