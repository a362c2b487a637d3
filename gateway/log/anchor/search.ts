import type { Hex } from '../../rails/base/abi.ts';
import type { ChainAnswer } from '../../rails/rpc.ts';
import type { AnchorChain, Anchored } from './anchor-chain.ts';

/** Nodes bound how much of the chain one eth_getLogs may search; 10,000 blocks is the usual bound. */
const SPAN_BLOCKS_MAX = 9_000;

interface Bounds {
  readonly from_block: number;
  readonly to_block: number;
  /** `newest`: ends with the first page that holds any. */
  readonly wanted: 'newest' | 'all';
}

/**
 * Searches for a sender's anchors from the newest block down, page by page. A node that will not search as much at once,
 * or whose answer is longer than may be read, is asked for half as much. What it cannot be asked now it can be asked
 * later: `run` goes on where it stopped.
 */
export class AnchorSearch {
  readonly #chain: Pick<AnchorChain, 'anchors'>;
  readonly #sender: Hex;
  readonly #bounds: Bounds;
  #to: number;
  #span = SPAN_BLOCKS_MAX;
  #found: Anchored[] = [];

  constructor(chain: Pick<AnchorChain, 'anchors'>, sender: Hex, bounds: Bounds) {
    this.#chain = chain;
    this.#sender = sender;
    this.#bounds = bounds;
    this.#to = bounds.to_block;
  }

  /** All that were found, in the order of the chain. `until_ms`: as `performance.now` counts. */
  async run(until_ms: number): Promise<ChainAnswer<readonly Anchored[]>> {
    const { from_block, wanted } = this.#bounds;
    while (this.#to >= from_block && !(wanted === 'newest' && this.#found.length > 0)) {
      if (performance.now() > until_ms) return tooLong(this.#to);
      const from = Math.max(from_block, this.#to - this.#span + 1);
      const page = await this.#chain.anchors(this.#sender, from, this.#to);
      if (page.kind === 'ok') {
        this.#found = [...page.value, ...this.#found];
        this.#to = from - 1;
        this.#span = Math.min(this.#span * 2, SPAN_BLOCKS_MAX);
        continue;
      }
      const cause = page.kind === 'refused' ? new Error(`the node refuses eth_getLogs: ${page.message}`) : page.cause;
      const smallest = this.#span === 1;
      this.#span = smallest ? SPAN_BLOCKS_MAX : Math.ceil(this.#span / 2);
      // One that cannot be reached is not asked again and again in one run: each time may take until its time-out.
      if (smallest || page.kind === 'unreachable') return { kind: 'unreachable', cause };
    }
    return { kind: 'ok', value: this.#found };
  }
}

function tooLong(block_number: number): ChainAnswer<never> {
  return { kind: 'unreachable', cause: new Error(`anchors are searched for below block ${block_number}`) };
}
