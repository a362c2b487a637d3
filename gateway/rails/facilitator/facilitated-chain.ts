import { setTimeout as sleep } from 'node:timers/promises';
import type { SettleRequest } from '@x402/core/types';
import type { NetworkName } from '../../../schema/network.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { vouchOf } from '../../../subgraphs/receipt/claim/settlement/write.ts';
import type { Decision, Vouched } from '../outcome.ts';
import type { Payment } from '../payment.ts';
import type { SentPayment } from '../rail.ts';

/** A payment that was given to a facilitator. */
export interface HandedPayment<P extends Payment = Payment> {
  readonly payment: P;
  /** First block in which the payment may have moved. */
  readonly from_block: number;
  /** Id of the transaction that the facilitator named; null if none. */
  readonly tx_hash: string | null;
}

/**
 * `contradicted`: the payment is unused and the named transaction does not contain it, so the facilitator's response is worthless.
 */
export type FacilitatedOutcome = Decision | { readonly kind: 'contradicted' };

/** Whether there is time to hand a payment over to a facilitator, and from which block on it is then searched for. */
export type HandOverWindow =
  | { readonly kind: 'in_time'; readonly from_block: number }
  | { readonly kind: 'too_late' }
  | { readonly kind: 'unreachable' };

/** Queries about a network on which a facilitator settles for us. */
export interface FacilitatedChain<P extends Payment = Payment> {
  readonly network: NetworkName;
  handOverWindow(payment: P): Promise<HandOverWindow>;
  /** Whether the payment is known to be unused. A used payment may have paid us, whatever a facilitator reports. */
  isUnused(payment: P): Promise<boolean>;
  /** The request to a facilitator, the same for /verify and /settle (x402 v2, section 7). */
  request(payment: P): SettleRequest;
  /**
   * The payment's outcome on the chain. A transaction that the facilitator names is checked first, because the name may be wrong.
   */
  look(handed: HandedPayment<P>): Promise<FacilitatedOutcome>;
}

/**
 * First pause between two queries; each later pause is twice as long. A development chain mines at once, Base every two seconds.
 */
const POLL_MS_FIRST = 15;

/** Queries the chain until it shows the outcome, or until the time is up. */
export async function lookUntil<P extends Payment>(
  facilitated: FacilitatedChain<P>,
  handed: HandedPayment<P>,
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

/** The transaction that a facilitator reported for an open payment; null if it reported none or the chain contradicts it. */
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
