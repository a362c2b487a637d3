import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { exportLimits } from '../../../schema/limits.ts';

/** Streams of whole books that are under way in this process, by book. */
export class StreamRoom {
  readonly #open = new Map<AgentId, number>();
  #all = 0;

  /** Asked before the first byte, where a refusal can still be heard. @throws rate_limited */
  requireRoom(agent_id: AgentId): void {
    const full = this.#all >= exportLimits.streams_max || this.#of(agent_id) >= exportLimits.streams_per_book_max;
    if (full) throw new Refusal('rate_limited', { detail: 'Too many exports are running. Retry when one has ended.' });
  }

  /** Work that precedes the first piece: it costs as much as pieces do, also for a reader who has left. @throws rate_limited */
  async during<T>(agent_id: AgentId, work: () => Promise<T>): Promise<T> {
    this.requireRoom(agent_id);
    this.#count(agent_id, 1);
    try {
      return await work();
    } finally {
      this.#count(agent_id, -1);
    }
  }

  /** What comes of `pieces`, holding its room from its first piece to its end or to where its reader leaves it. */
  async *hold<T>(agent_id: AgentId, pieces: AsyncIterable<T>): AsyncGenerator<T> {
    this.requireRoom(agent_id);
    this.#count(agent_id, 1);
    try {
      yield* pieces;
    } finally {
      this.#count(agent_id, -1);
    }
  }

  #of(agent_id: AgentId): number {
    return this.#open.get(agent_id) ?? 0;
  }

  #count(agent_id: AgentId, by: 1 | -1): void {
    this.#all += by;
    const open = this.#of(agent_id) + by;
    if (open === 0) this.#open.delete(agent_id);
    else this.#open.set(agent_id, open);
  }
}
