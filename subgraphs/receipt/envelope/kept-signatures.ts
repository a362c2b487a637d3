import { LRUCache } from 'lru-cache';
import type { Issuer } from '../issuer/signing-keys.ts';

/**
 * What was signed once, by the name of what it is over: whoever asks again is given the same bytes, and costs
 * no signature. A key that gave way to another signs no more, so what it signed is not asked for under the new one's name.
 */
export class KeptSignatures<T extends object> {
  readonly #max: number;
  readonly #kept = new WeakMap<object, LRUCache<string, T>>();

  /** @param max of them at a time, the least asked for going first */
  constructor(max: number) {
    this.#max = max;
  }

  /** @param sign is given the time, in unix seconds */
  once(issuer: Pick<Issuer, 'kid' | 'now_ms'>, name: string, sign: (iat: number) => T): T {
    const kept = this.#kept.get(issuer) ?? new LRUCache<string, T>({ max: this.#max });
    this.#kept.set(issuer, kept);
    const key = `${issuer.kid} ${name}`;
    const known = kept.get(key);
    if (known) return known;
    const signed = sign(Math.floor(issuer.now_ms() / 1000));
    kept.set(key, signed);
    return signed;
  }
}
