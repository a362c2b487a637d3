import type { ArrivalStatus } from '../../../schema/evidence.ts';
import type { ClaimState } from './claim.machine.ts';

/** Of a recorded payment, by what became of money that was not seen when it was recorded. */
const byArrival: Readonly<Record<ArrivalStatus, true | null>> = {
  confirmed: true,
  pending: null,
  // It can come no more, or did not while we looked: that it never moved nobody has said.
  unverified: null,
};

/** Whether a payment was charged, as far as that was observed; null where it is not known. */
export function isCharged({
  state,
  arrival,
}: {
  readonly state: ClaimState;
  readonly arrival: ArrivalStatus | null;
}): boolean | null {
  switch (state) {
    case 'claimed':
    case 'settling':
      return null;
    case 'held':
      return true;
    case 'recorded':
      return byArrival[arrival ?? 'confirmed'];
    case 'released':
      return false;
  }
}
