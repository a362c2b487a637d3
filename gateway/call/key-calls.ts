import { type Respond } from './respond.ts';

/** Open calls by API key in this process. Calls by key are not paid for, so one key must not use the whole capacity. */
export class KeyCalls {
  readonly #underway = new Map<string, number>();
  readonly #each_max: number;
  readonly #respond: Respond;

  constructor(each_max: number, respond: Respond) {
    this.#each_max = each_max;
    this.#respond = respond;
  }

  /** Begins a call. Returns a function that ends it; further calls of that function have no effect. */
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
