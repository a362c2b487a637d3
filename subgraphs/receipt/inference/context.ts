import type { ChargePort } from '../../charge-port.ts';
import type { Uploads } from '../../uploads.ts';
import type { ShowsReceipts } from '../context.ts';
import type { Hubs } from './hubs/open.ts';

/** Context of the resolvers for inference. It adds the hubs of this process and the files that were uploaded to it. */
export interface InferenceContext extends ShowsReceipts, ChargePort {
  readonly hubs: Hubs;
  readonly uploads: Uploads;
}
