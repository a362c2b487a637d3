import type { NotSent, SettleOutcome } from './outcome.ts';
import type { Settler } from './settler.ts';

/* Whether payments are sent at all: chain and facilitator may answer while none is, and then nobody knows but those who pay. */

/** Why whoever paid would be refused. */
export type SettlingTrouble = 'unfunded' | 'fee_too_high' | 'price_unknown' | 'facilitator_unavailable';

/** In the words in which the anchor's troubles are told, too. What else keeps a payment from being sent is its own, or passes. */
const troubles: { readonly [reason in NotSent['reason']]?: SettlingTrouble } = {
  out_of_gas: 'unfunded',
  fee_too_high: 'fee_too_high',
  price_unknown: 'price_unknown',
  facilitator_unavailable: 'facilitator_unavailable',
};

/** What the payments of one network came to last, as far as all others would come to the same. */
export class SettlingStanding {
  #trouble: SettlingTrouble | null;

  constructor(trouble: SettlingTrouble | null = null) {
    this.#trouble = trouble;
  }

  /** Null once a payment has been sent. Between two payments nobody finds out, so it stays as it was with the last one. */
  get trouble(): SettlingTrouble | null {
    return this.#trouble;
  }

  /** `pause`: why its settler takes no payment of anybody. */
  refused(reason: NotSent['reason'], pause: NotSent['reason'] | null): void {
    // What is too much for a batch, or for a payment by a contract wallet, need not be for the next one.
    if ((reason === 'fee_too_high' || reason === 'out_of_gas') && pause !== reason) return;
    this.#trouble = troubles[reason] ?? this.#trouble;
  }

  settled(outcome: SettleOutcome, pause: NotSent['reason'] | null): void {
    if (outcome.kind === 'not_sent') this.refused(outcome.reason, pause);
    else if (isSent(outcome)) this.#trouble = null;
  }
}

/** The settler, whose outcomes are heard. */
export function heardSettler<I>(settler: Settler<I>, standing: SettlingStanding): Settler<I> {
  const reachable = settler.reachable?.bind(settler);
  return {
    async settle(item) {
      const outcome = await settler.settle(item);
      standing.settled(outcome, settler.pause ?? null);
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

/** A facilitator that declines one payment takes others. What somebody else has submitted shows nothing of us. */
function isSent(outcome: SettleOutcome): boolean {
  if (outcome.kind === 'transferred') return outcome.by === 'us';
  if (outcome.kind === 'unknown') return outcome.reason === 'not_mined';
  return outcome.kind === 'vouched' || outcome.kind === 'declined';
}
