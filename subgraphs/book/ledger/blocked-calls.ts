import { LRUCache } from 'lru-cache';
import { iso } from '../../clock.ts';
import type { BlockedTooOften } from './block.ts';
import type { RepeatCount } from './repeated-events.ts';

/** Maximum number of remembered books. The least recently used one is dropped. */
const SUSPECTS_MAX = 10_000;

/**
 * Counts calls that were refused too often, in the memory of this process, until they are written, and remembers their books. A
 * crash loses only the counts of a few seconds.
 */
export class BlockedCalls {
  readonly #now_ms: () => number;
  #counts = new Map<string, RepeatCount>();
  /** Time (ms) until which the calls of a book are checked without locks first, by agent id. */
  readonly #suspects = new LRUCache<number, number>({ max: SUSPECTS_MAX });

  constructor(now_ms: () => number = () => performance.now()) {
    this.#now_ms = now_ms;
  }

  /** Counts a refused call. Called when the refusal is returned. */
  count({ agent_id, seq, task_id, policy_code, last_refusal_id, retry_after_seconds, at_ms }: BlockedTooOften): void {
    this.#suspects.set(agent_id, this.#now_ms() + retry_after_seconds * 1_000);
    const at = iso(at_ms);
    const body = { policy_code, refusal_id: last_refusal_id };
    this.#add({ agent_id, seq, kind: 'blocked', task_id, body, count: 1, first_at: at, last_at: at });
  }

  /**
   * Whether this process has seen the book refuse calls too often in this hour. Calls of such a book are checked without locks
   * first.
   */
  suspects(agent_id: number): boolean {
    const until_ms = this.#suspects.get(agent_id);
    if (until_ms === undefined) return false;
    if (this.#now_ms() < until_ms) return true;
    this.#suspects.delete(agent_id);
    return false;
  }

  /** Forgets a book that has let a call pass, or may let one pass. */
  acquit(agent_id: number): void {
    this.#suspects.delete(agent_id);
  }

  /** Returns and clears the counts. Counts that the caller cannot write must be returned with `giveBack`. */
  take(): readonly RepeatCount[] {
    const counts = [...this.#counts.values()];
    this.#counts = new Map();
    return counts;
  }

  giveBack(counts: readonly RepeatCount[]): void {
    for (const count of counts) this.#add(count);
  }

  #add(count: RepeatCount): void {
    const name = `${count.agent_id} ${count.seq}`;
    const known = this.#counts.get(name);
    if (!known) return void this.#counts.set(name, count);
    const times = [known.first_at, known.last_at, count.first_at, count.last_at].sort();
    const [first_at = known.first_at] = times;
    this.#counts.set(name, {
      ...known,
      count: known.count + count.count,
      first_at,
      last_at: times.at(-1) ?? count.last_at,
    });
  }
}
