import { IDLE_MS } from '../../gateway/development/keep.ts';

/**
 * Milliseconds for which stand-ins continue after a run that was killed. A test of this cannot wait for the default of ten minutes, so it
 * sets the variable.
 */
export const idle_ms = Number(process.env.STAND_IN_IDLE_MS ?? IDLE_MS);
