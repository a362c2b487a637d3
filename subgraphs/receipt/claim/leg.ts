/**
 * How slots begin of the first of two payments. Whom it pays could submit what we have let go of: until the finalized
 * chain shows it used, cancelled or past its time, nobody else may hold such a slot, whatever became of the claim.
 */
export const LEG = 'leg:';

/** Why a leg is let go of whose transfer stands on a book already, as a payment to somebody else. */
export const RECORDED_ELSEWHERE = 'recorded_elsewhere';

/** Why a leg is let go of that the final chain does not have, though it was seen there. */
export const VANISHED = 'settlement_vanished';

/** Held by the second of two payments: one alone records the first. */
export const siblingSlot = (claim_key: string): string => `sibling:${claim_key}`;
