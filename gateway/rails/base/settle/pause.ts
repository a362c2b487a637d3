import type { Clock } from '../../../../subgraphs/clock.ts';
import type { NotSent } from '../../outcome.ts';

/** As long as two blocks of Base and a little more: one call in so long finds out whether it is still so. */
const PAUSE_MS = 5_000;

/**
 * While nothing would be sent, whoever pays, nobody is worked for: what a hub answers could not be charged. Payments that
 * have moved already are not concerned.
 */
export class Pause {
  readonly #clock: Clock;
  #begun: { readonly reason: NotSent['reason']; readonly until_ms: number } | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(reason: NotSent['reason']): void {
    this.#begun = { reason, until_ms: this.#clock.now_ms() + PAUSE_MS };
  }

  get reason(): NotSent['reason'] | null {
    return this.#begun && this.#clock.now_ms() < this.#begun.until_ms ? this.#begun.reason : null;
  }
}
