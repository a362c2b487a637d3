import type { Clock } from '../../../../subgraphs/clock.ts';
import type { NotSent } from '../../outcome.ts';
import type { ChainAnswer } from '../../rpc.ts';
import type { Hex } from '../abi.ts';
import type { BaseChain, Market } from '../chain.ts';

/** Older than one block of Base, fees and head are asked for anew. */
const AGE_MS_MAX = 2_000;

/**
 * Head, fees and the keys' balances, asked for when needed and kept for one block. That it answers is also the proof
 * that the chain can be reached, before anything is committed that only the chain can undo.
 */
export class MarketWatch {
  readonly #chain: BaseChain;
  readonly #clock: Clock;
  readonly #addresses: readonly Hex[];
  #seen: { market: Market; at_ms: number } | null = null;
  #asking: Promise<ChainAnswer<Market>> | null = null;

  constructor(chain: BaseChain, clock: Clock, addresses: readonly Hex[]) {
    this.#chain = chain;
    this.#clock = clock;
    this.#addresses = addresses;
  }

  async read(): Promise<ChainAnswer<Market>> {
    if (this.#seen && this.#clock.now_ms() - this.#seen.at_ms < AGE_MS_MAX)
      return { kind: 'ok', value: this.#seen.market };
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #ask(): Promise<ChainAnswer<Market>> {
    const market = await this.#chain.market(this.#addresses);
    this.#seen = market.kind === 'ok' ? { market: market.value, at_ms: this.#clock.now_ms() } : null;
    return market;
  }
}

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
