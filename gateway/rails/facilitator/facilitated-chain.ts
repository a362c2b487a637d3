import type { SettleRequest } from '@x402/core/types';
import type { NetworkName } from '../../../schema/network.ts';
import type { Decision } from '../outcome.ts';
import type { Payment } from '../payment.ts';

/** A payment in a facilitator's hands. */
export interface HandedOver<P extends Payment = Payment> {
  readonly payment: P;
  /** The block before which it cannot have moved. */
  readonly from_block: number;
  /** In which it says that it moved; null where it has named none. */
  readonly tx_hash: string | null;
}

/** `contradicted`: the named transaction was mined, has nothing to do with it, and it is unused: the word is worth nothing. */
export type Seen = Decision | { readonly kind: 'contradicted' };

/** Whether there is time to hand a payment over, and from where on it is looked for then. */
export type Before =
  | { readonly kind: 'in_time'; readonly from_block: number }
  | { readonly kind: 'too_late' }
  | { readonly kind: 'unreachable' };

/** A network, as far as a facilitator settles on it for us. */
export interface Carried<P extends Payment = Payment> {
  readonly network: NetworkName;
  before(payment: P): Promise<Before>;
  /** Known to be: what somebody has used already may be our money, whatever a facilitator says of it. */
  isUnused(payment: P): Promise<boolean>;
  /** What a facilitator is asked about it: the same for /verify and /settle (x402 v2, section 7). */
  request(payment: P): SettleRequest;
  /** What the chain says of it. A transaction that the facilitator names is looked into first; the name may be wrong. */
  look(handed: HandedOver<P>): Promise<Seen>;
}
