import { setTimeout } from 'node:timers/promises';
import type { ChainAnswer } from './rpc.ts';

/** An open transaction. Each replacement adds a hash. */
export interface OpenTransaction {
  readonly hashes: readonly string[];
}

/** Returns one result for each hash, in the given order; null if the transaction is in no block. */
type AskReceipts<R> = (hashes: readonly string[]) => Promise<readonly ChainAnswer<R | null>[]>;

/**
 * First pause between two polls; each later pause is twice as long. A development chain mines at once, others within two seconds.
 */
const POLL_MS_FIRST = 15;

/** Polls once for all transactions that are awaited. The pauses are short when a wait begins and grow while any wait lasts. */
export class ReceiptWatch<R extends { readonly tx_hash: string }> {
  readonly #receipts: AskReceipts<R>;
  readonly #poll_ms: number;
  readonly #watched = new Map<OpenTransaction, (receipt: R | null) => void>();
  #pause_ms = POLL_MS_FIRST;
  #polling = false;

  constructor(receipts: AskReceipts<R>, poll_ms: number) {
    this.#receipts = receipts;
    this.#poll_ms = poll_ms;
  }

  /** The receipt of the transaction that is mined; null if the watch ends before. */
  awaitReceipt(watched: OpenTransaction): Promise<R | null> {
    return new Promise(resolve => {
      this.#watched.set(watched, resolve);
      this.#pause_ms = POLL_MS_FIRST;
      if (!this.#polling) void this.#poll();
    });
  }

  /** Ends the wait without a receipt, because none of its transactions can be mined. */
  forget(watched: OpenTransaction): void {
    this.#end(watched, null);
  }

  close(): void {
    for (const end of this.#watched.values()) end(null);
    this.#watched.clear();
  }

  async #poll(): Promise<void> {
    this.#polling = true;
    while (this.#watched.size > 0) {
      await this.#ask();
      if (this.#watched.size === 0) break;
      await setTimeout(this.#pause_ms, undefined, { ref: false });
      this.#pause_ms = Math.min(2 * this.#pause_ms, this.#poll_ms);
    }
    this.#polling = false;
  }

  async #ask(): Promise<void> {
    const asked = [...this.#watched.keys()].map(watched => ({ watched, hashes: [...watched.hashes] }));
    const receipts = await this.#receipts(asked.flatMap(({ hashes }) => hashes));
    const mined = receipts.flatMap(receipt => (receipt.kind === 'ok' && receipt.value ? [receipt.value] : []));
    const found = new Map(mined.map(receipt => [receipt.tx_hash, receipt]));
    for (const { watched, hashes } of asked) {
      const receipt = hashes.map(hash => found.get(hash)).find(known => known !== undefined);
      if (receipt) this.#end(watched, receipt);
    }
  }

  #end(watched: OpenTransaction, receipt: R | null): void {
    this.#watched.get(watched)?.(receipt);
    this.#watched.delete(watched);
  }
}
