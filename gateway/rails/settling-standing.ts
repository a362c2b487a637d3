import type { NotSent, SettleOutcome } from './outcome.ts';
import type { Settler } from './settler.ts';

/*
 * Whether payments can be sent at all. Chain and facilitator may respond although nothing can be sent, which would otherwise be
 * noticed only by payers.
 */

/** Why every payer would be refused. */
export type SettlingTrouble = 'unfunded' | 'fee_too_high' | 'price_unknown' | 'facilitator_unavailable';

/** The codes are also those of anchoring. Other reasons concern a single payment, or pass by themselves. */
const troubles: { readonly [reason in NotSent['reason']]?: SettlingTrouble } = {
  out_of_gas: 'unfunded',
  fee_too_high: 'fee_too_high',
  price_unknown: 'price_unknown',
  facilitator_unavailable: 'facilitator_unavailable',
};

/** The last result of a network's payments, as far as all others would get the same. */
export class SettlingStanding {
  #trouble: SettlingTrouble | null;

  constructor(trouble: SettlingTrouble | null = null) {
    this.#trouble = trouble;
  }

  /** Null once a payment was sent. Between two payments it keeps the last state. */
  get trouble(): SettlingTrouble | null {
    return this.#trouble;
  }

  /** `pause`: why the settler accepts no payment at all. */
  recordRefusal(reason: NotSent['reason'], pause: NotSent['reason'] | null): void {
    // A cost that is too high for a batch, or for a contract wallet, need not be for the next payment.
    if ((reason === 'fee_too_high' || reason === 'out_of_gas') && pause !== reason) return;
    this.#trouble = troubles[reason] ?? this.#trouble;
  }

  recordOutcome(outcome: SettleOutcome, pause: NotSent['reason'] | null): void {
    if (outcome.kind === 'not_sent') this.recordRefusal(outcome.reason, pause);
    else if (isSent(outcome)) this.#trouble = null;
  }
}

/** Wraps the settler and records its outcomes. */
export function observeSettler<I>(settler: Settler<I>, standing: SettlingStanding): Settler<I> {
  const reachable = settler.reachable?.bind(settler);
  return {
    async settle(item) {
      const outcome = await settler.settle(item);
      standing.recordOutcome(outcome, settler.pause ?? null);
      return outcome;
    },
    rebroadcast: () => settler.rebroadcast(),
    get pause() {
      return settler.pause ?? null;
    },
    ...(reachable && { reachable }),
    close: () => settler.close(),
  };
}

/** A facilitator that declines one payment accepts others. What someone else submitted says nothing about us. */
function isSent(outcome: SettleOutcome): boolean {
  if (outcome.kind === 'transferred') return outcome.by === 'us';
  if (outcome.kind === 'unknown') return outcome.reason === 'not_mined';
  return outcome.kind === 'vouched' || outcome.kind === 'declined';
}
