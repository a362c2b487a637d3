import { type Respond } from './respond.ts';

/** Open calls by API key in this process. A key pays for nothing, so one alone must not use all capacity. */
export class KeyCalls {
  readonly #underway = new Map<string, number>();
  readonly #each_max: number;
  readonly #respond: Respond;

  constructor(each_max: number, respond: Respond) {
    this.#each_max = each_max;
    this.#respond = respond;
  }

  /** Returns a function that ends the call, once. @throws rate_limited */
  begin(hash: string): () => void {
    const others = this.#underway.get(hash) ?? 0;
    if (others >= this.#each_max) throw this.#respond({ kind: 'key_calls_full', calls_max: this.#each_max });
    this.#underway.set(hash, others + 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const left = (this.#underway.get(hash) ?? 1) - 1;
      if (left > 0) this.#underway.set(hash, left);
      else this.#underway.delete(hash);
    };
  }
}
