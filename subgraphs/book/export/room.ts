import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { exportLimits } from '../../../schema/limits.ts';

/** Counts the running streams of whole books in this process, by book. */
export class StreamRoom {
  readonly #open = new Map<AgentId, number>();
  #all = 0;

  /**
   * Requires that one more stream may run. Called before the first byte, when a refusal can still be sent.
   * @throws rate_limited
   */
  requireRoom(agent_id: AgentId): void {
    const full = this.#all >= exportLimits.streams_max || this.#of(agent_id) >= exportLimits.streams_per_book_max;
    if (full)
      throw new Refusal('rate_limited', { detail: 'Too many exports are running. Try again when one has ended.' });
  }

  /**
   * Runs the work before the first piece and counts it as a stream, because it costs as much as pieces, even if the reader leaves.
   * @throws rate_limited
   */
  async during<T>(agent_id: AgentId, work: () => Promise<T>): Promise<T> {
    this.requireRoom(agent_id);
    this.#count(agent_id, 1);
    try {
      return await work();
    } finally {
      this.#count(agent_id, -1);
    }
  }

  /**
   * Passes on `pieces`. The stream is counted from the first piece until it ends or the reader leaves.
   * @throws rate_limited
   */
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
