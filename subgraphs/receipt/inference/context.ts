import type { Selling } from '../../selling.ts';
import type { Uploads } from '../../uploads.ts';
import type { ShowsReceipts } from '../context.ts';
import type { Hubs } from './hubs/open.ts';

/** Inference needs, beyond the common, the hubs of this process, and the files that were sent to it. */
export interface InferenceContext extends ShowsReceipts, Selling {
  readonly hubs: Hubs;
  readonly uploads: Uploads;
}
