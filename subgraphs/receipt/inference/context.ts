import type { Context } from '../../context.ts';
import type { Hubs } from './hubs/open.ts';

/** Inference needs, beyond the common, the hubs of this process. */
export interface InferenceContext extends Context {
  readonly hubs: Hubs;
}
