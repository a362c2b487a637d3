import type { BaseAnchor } from '../../../schema/refusal.ts';
import type { Clock } from '../../../subgraphs/clock.ts';
import { requireAnswer } from '../epoch.ts';
import type { BaseChain, ChainBlock } from './chain.ts';

/** Maximum age of an observed head. An older one does not show the current state of the chain. */
const AGE_MS_MAX = 60_000;

/**
 * The head of Base at this process's last poll, which signed refusals contain. A refusal makes no request to the chain, so it costs
 * no more and contains no less while the chain is briefly unreachable.
 */
export class ChainHead {
  readonly #chain: Pick<BaseChain, 'block'>;
  readonly #clock: Clock;
  #seen: { readonly block: ChainBlock; readonly at_ms: number } | null = null;

  constructor(chain: Pick<BaseChain, 'block'>, clock: Clock) {
    this.#chain = chain;
    this.#clock = clock;
  }

  /** @throws ChainAway. The previous observation then stays valid until it is too old. */
  async poll(): Promise<void> {
    const block = requireAnswer(await this.#chain.block('latest'));
    if (block) this.#seen = { block, at_ms: this.#clock.now_ms() };
  }

  /** Age of the last observation; null before the first. */
  age_ms(): number | null {
    return this.#seen && this.#clock.now_ms() - this.#seen.at_ms;
  }

  /**
   * Minimum by which our clock is behind the chain's, since no block is mined with a future timestamp. A clock that is ahead cannot
   * be detected, because a chain that has stopped looks the same.
   */
  ahead_ms(): number {
    return this.#seen ? Math.max(0, this.#seen.block.timestamp_seconds * 1000 - this.#seen.at_ms) : 0;
  }

  anchor(): BaseAnchor {
    if (this.#seen === null || this.#clock.now_ms() - this.#seen.at_ms > AGE_MS_MAX) return { status: 'UNAVAILABLE' };
    const { number, hash, state_root } = this.#seen.block;
    return {
      status: 'AVAILABLE',
      block_number: number,
      block_hash: hash,
      ...(state_root === undefined ? {} : { state_root }),
    };
  }
}
