import { IDLE_MS } from '../../gateway/development/keep.ts';

/** For so long the stand-ins of a run outlive it when it is cut off. What tests that has no ten minutes. */
export const idle_ms = Number(process.env.STAND_IN_IDLE_MS ?? IDLE_MS);
