import type { NotSent, SettleOutcome } from './outcome.ts';
import type { Settler } from './settler.ts';

/*
 * Observes whether payments can be sent. Chain and facilitator may respond although no payment can be sent, which would otherwise
 * be noticed only by payers.
 */

/** Reason why every payer would be refused. */
export type SettlingTrouble = 'unfunded' | 'fee_too_high' | 'price_unknown' | 'facilitator_unavailable';

/**
 * The trouble that each reason shows; the codes are also those of anchoring. The other reasons concern a single payment, or end
 * without an intervention.
 */
const troubles: { readonly [reason in NotSent['reason']]?: SettlingTrouble } = {
  out_of_gas: 'unfunded',
  fee_too_high: 'fee_too_high',
  price_unknown: 'price_unknown',
  facilitator_unavailable: 'facilitator_unavailable',
};

/** Keeps the last result of a network's payments, if it applies to all other payments too. */
export class SettlingStanding {
  #trouble: SettlingTrouble | null;

  constructor(trouble: SettlingTrouble | null = null) {
    this.#trouble = trouble;
  }

  /** Why no payment can be sent; null after a payment was sent. Between two payments the last state is kept. */
  get trouble(): SettlingTrouble | null {
    return this.#trouble;
  }

  /** Records a refusal. `pause` is the reason why the settler accepts no payment now, or null. */
  recordRefusal(reason: NotSent['reason'], pause: NotSent['reason'] | null): void {
    // A cost that is too high for one batch, or for a contract wallet, may be acceptable for the next payment.
    if ((reason === 'fee_too_high' || reason === 'out_of_gas') && pause !== reason) return;
    this.#trouble = troubles[reason] ?? this.#trouble;
  }

  recordOutcome(outcome: SettleOutcome, pause: NotSent['reason'] | null): void {
    if (outcome.kind === 'not_sent') this.recordRefusal(outcome.reason, pause);
    else if (isSent(outcome)) this.#trouble = null;
  }
}

/** Wraps a settler and records its outcomes in `standing`. */
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

/**
 * Whether the outcome shows that payments are sent. A facilitator that declines one payment accepts others; a payment that someone
 * else submitted shows nothing about us.
 */
function isSent(outcome: SettleOutcome): boolean {
  if (outcome.kind === 'transferred') return outcome.by === 'us';
  if (outcome.kind === 'unknown') return outcome.reason === 'not_mined';
  return outcome.kind === 'vouched' || outcome.kind === 'declined';
}
