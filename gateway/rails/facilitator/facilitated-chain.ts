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
  /** The first block in which it may have moved. */
  readonly from_block: number;
  /** The transaction that it named; null if none. */
  readonly tx_hash: string | null;
}

/** `contradicted`: the named transaction does not contain the payment, which is unused, so the response is worthless. */
export type FacilitatedOutcome = Decision | { readonly kind: 'contradicted' };

/** Whether there is time to hand a payment over, and from which block it is then searched. */
export type HandOverWindow =
  | { readonly kind: 'in_time'; readonly from_block: number }
  | { readonly kind: 'too_late' }
  | { readonly kind: 'unreachable' };

/** A network on which a facilitator settles for us. */
export interface FacilitatedChain<P extends Payment = Payment> {
  readonly network: NetworkName;
  handOverWindow(payment: P): Promise<HandOverWindow>;
  /** Whether it is known to be unused. A used one may be our money, whatever a facilitator says. */
  isUnused(payment: P): Promise<boolean>;
  /** The request to a facilitator, the same for /verify and /settle (x402 v2, section 7). */
  request(payment: P): SettleRequest;
  /** The chain's state of it. A transaction that the facilitator names is checked first; the name may be wrong. */
  look(handed: HandedPayment<P>): Promise<FacilitatedOutcome>;
}

/** A development chain mines at once, Base every two seconds: ask soon, then less and less often. */
const POLL_MS_FIRST = 15;

/** Asks until the chain has decided, or until the time is up. */
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

/** A facilitator's report of an open payment, unless the chain contradicts it; null if there is none. */
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
