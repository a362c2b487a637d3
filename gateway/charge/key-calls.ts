import { Refusal } from '../../schema/errors.ts';

/** What is under way by key in this process: a key pays for nothing, so one alone must not take all that there is. */
export class KeyCalls {
  readonly #underway = new Map<string, number>();
  readonly #each_max: number;

  constructor(each_max: number) {
    this.#each_max = each_max;
  }

  /** Returns what ends it, once. @throws rate_limited */
  begin(hash: string): () => void {
    const others = this.#underway.get(hash) ?? 0;
    if (others >= this.#each_max) {
      const detail = `${this.#each_max} calls by this key are under way: wait for one of them.`;
      throw new Refusal('rate_limited', { detail, facts: { charged: false, retry_after_seconds: 1 } });
    }
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
