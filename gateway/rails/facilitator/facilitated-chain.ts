import { setTimeout as sleep } from 'node:timers/promises';
import type { SettleRequest } from '@x402/core/types';
import type { NetworkName } from '../../../schema/network.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { vouchOf } from '../../../subgraphs/receipt/claim/settlement/write.ts';
import type { Decision, Vouched } from '../outcome.ts';
import type { Payment } from '../payment.ts';
import type { SentPayment } from '../rail.ts';

/** A payment in a facilitator's hands. */
export interface HandedOver<P extends Payment = Payment> {
  readonly payment: P;
  /** The block before which it cannot have moved. */
  readonly from_block: number;
  /** In which it says that it moved; null where it has named none. */
  readonly tx_hash: string | null;
}

/** `contradicted`: the named transaction was mined, has nothing to do with it, and it is unused: the word is worth nothing. */
export type FacilitatedOutcome = Decision | { readonly kind: 'contradicted' };

/** Whether there is time to hand a payment over, and from where on it is looked for then. */
export type Before =
  | { readonly kind: 'in_time'; readonly from_block: number }
  | { readonly kind: 'too_late' }
  | { readonly kind: 'unreachable' };

/** A network, as far as a facilitator settles on it for us. */
export interface FacilitatedChain<P extends Payment = Payment> {
  readonly network: NetworkName;
  before(payment: P): Promise<Before>;
  /** Known to be: what somebody has used already may be our money, whatever a facilitator says of it. */
  isUnused(payment: P): Promise<boolean>;
  /** What a facilitator is asked about it: the same for /verify and /settle (x402 v2, section 7). */
  request(payment: P): SettleRequest;
  /** What the chain says of it. A transaction that the facilitator names is looked into first; the name may be wrong. */
  look(handed: HandedOver<P>): Promise<FacilitatedOutcome>;
}

/** A development chain mines at once, Base every two seconds: look soon, then less and less often. */
const POLL_MS_FIRST = 15;

/** Looks until the chain has decided, or for so long. */
export async function lookUntil<P extends Payment>(
  facilitated: FacilitatedChain<P>,
  handed: HandedOver<P>,
  until: Patience,
): Promise<FacilitatedOutcome> {
  const deadline_ms = performance.now() + until.wait_ms;
  for (let pause_ms = POLL_MS_FIRST; ; pause_ms = Math.min(2 * pause_ms, until.poll_ms)) {
    const seen = await facilitated.look(handed);
    const decided = seen.kind === 'transferred' || seen.kind === 'not_transferred';
    if (decided || until.signal.aborted || performance.now() + pause_ms > deadline_ms) return seen;
    await sleep(pause_ms, undefined, { signal: until.signal }).catch(() => {});
  }
}

export interface Patience {
  readonly wait_ms: number;
  readonly poll_ms: number;
  readonly signal: AbortSignal;
}

/** A facilitator's word for a payment that was left open, unless the chain belies it by now; null where there is none. */
export async function vouchFor<P extends Payment>(
  database: Pick<Database, 'query'>,
  facilitated: FacilitatedChain<P>,
  payment: P,
  { settlement_id, from_block }: SentPayment,
): Promise<Vouched | null> {
  if (settlement_id === null || from_block === null) return null;
  const tx_hash = await vouchOf(database, settlement_id);
  if (tx_hash === null) return null;
  const seen = await facilitated.look({ payment, from_block, tx_hash });
  return seen.kind === 'unknown' ? { kind: 'vouched', tx_hash } : null;
}
