import { IDLE_MS } from '../../gateway/development/keep.ts';

/**
 * Time for which stand-ins outlive a run that is cut off. A test of this cannot wait for the default ten minutes, so it
 * sets the variable.
 */
export const idle_ms = Number(process.env.STAND_IN_IDLE_MS ?? IDLE_MS);
