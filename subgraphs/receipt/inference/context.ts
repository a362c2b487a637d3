import type { ChargePort } from '../../charge-port.ts';
import type { Uploads } from '../../uploads.ts';
import type { ShowsReceipts } from '../context.ts';
import type { Hubs } from './hubs/open.ts';

/** Inference needs, beyond the common, the hubs of this process, and the files that were sent to it. */
export interface InferenceContext extends ShowsReceipts, ChargePort {
  readonly hubs: Hubs;
  readonly uploads: Uploads;
}
