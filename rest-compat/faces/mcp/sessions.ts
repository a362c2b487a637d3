import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { bounds } from './bounds.ts';

/**
 * Handshakes of clients that begin with one. Nothing is kept under them that a request without one would lack, so whoever comes
 * when there are enough is served without; and one that was forgotten costs its client another handshake.
 */
export class Sessions {
  readonly #addresses = new Map<string, number>();
  readonly #open = new LRUCache<string, { readonly address: string }>({
    max: bounds.sessions_max,
    ttl: bounds.session_idle_ms_max,
    updateAgeOnGet: true,
    dispose: ({ address }) => this.#count(address, -1),
  });

  /** Its id; null where there are as many as may be, here or from that address. */
  open(address: string): string | null {
    if (this.#full(address)) this.#open.purgeStale();
    if (this.#full(address)) return null;
    const id = randomUUID();
    this.#count(address, 1);
    this.#open.set(id, { address });
    return id;
  }

  /** Whether it is open; from then on it is idle for no longer than before. */
  touch(id: string): boolean {
    return this.#open.get(id) !== undefined;
  }

  /** Whether there was one. */
  end(id: string): boolean {
    return this.#open.delete(id);
  }

  #full(address: string): boolean {
    const here = this.#addresses.get(address) ?? 0;
    return this.#open.size >= bounds.sessions_max || here >= bounds.sessions_per_address_max;
  }

  #count(address: string, by: 1 | -1): void {
    const count = (this.#addresses.get(address) ?? 0) + by;
    if (count > 0) this.#addresses.set(address, count);
    else this.#addresses.delete(address);
  }
}
