import type { SvmChain } from './chain.ts';

/** When this process has seen the chain last. */
export class Sight {
  readonly #chain: Pick<SvmChain, 'finalized'>;
  #seen_at_ms: number | null = null;

  constructor(chain: Pick<SvmChain, 'finalized'>) {
    this.#chain = chain;
  }

  /** @throws where it cannot be reached. */
  async take(): Promise<void> {
    const seen = await this.#chain.finalized();
    if (seen.kind !== 'ok') throw new Error('Solana cannot be reached', { cause: seen.cause });
    this.#seen_at_ms = performance.now();
  }

  /** Null where it was never seen. */
  age_ms(): number | null {
    return this.#seen_at_ms === null ? null : performance.now() - this.#seen_at_ms;
  }
}
