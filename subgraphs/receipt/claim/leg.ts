/**
 * How slots begin of the first of two payments. Whom it pays could submit what we have let go of: until the finalized chain
 * shows it used, cancelled or past its time, nobody else may hold such a slot, whatever became of the claim.
 */
export const LEG = 'leg:';
