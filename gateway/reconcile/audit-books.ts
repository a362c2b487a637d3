import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AgentId } from '../../schema/ids.ts';
import { unwalked } from '../../subgraphs/book/audit/audit.ts';
import { auditNewest, auditStep, booksAfter, reopenBook } from '../../subgraphs/book/audit/audit-stored.ts';
import { type BookDamage, bookDamages } from '../../subgraphs/book/audit/damage.ts';
import type { Database } from '../../subgraphs/database.ts';

/** After each step it rests for so many times as long as that took: it takes a tenth of a core at most. */
const RESTS = 9;
/** At least so long, also after steps that took no time. */
const REST_MS_MIN = 20;
/** Between two rounds over all books. */
const ROUND_REST_MS = 2_000;
/** Before it goes on where it could not read. */
const RETRY_MS = 5_000;
const BOOKS_PER_PAGE = 100;

/** What an operator does about a book that contradicts itself. */
const WAY_ON = 'Restore its rows, events and head: a round that finds all of it sound opens it again';

/**
 * Audits every book from its first event on while the service runs, by the order of their ids and over again for ever.
 * A book that contradicts itself is closed by a mark on its head, in all processes at once; one that was marked and is
 * found sound from end to end is opened again.
 */
export class BookGuard {
  readonly #database: Database;
  readonly #rests: number;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  /** Those of which the log has been told. */
  readonly #told = new Set<number>();
  readonly #running: Promise<void>;

  private constructor(database: Database, logger: Logger, rests: number) {
    this.#database = database;
    this.#rests = rests;
    this.#logger = logger;
    this.#running = this.#audit();
  }

  /** The books that moved last are looked at before anything is served. */
  static async open(database: Database, logger: Logger, rests = RESTS): Promise<BookGuard> {
    const found = await auditNewest(database);
    const guard = new BookGuard(database, logger, rests);
    for (const { agent_id, ...damage } of found) guard.#tell(agent_id, damage);
    return guard;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #audit(): Promise<void> {
    let after = 0;
    while (!this.#stopping.signal.aborted) {
      try {
        after = await this.#auditOn(after);
        if (after === 0) await this.#rest(ROUND_REST_MS);
      } catch (error) {
        this.#logger.warn({ err: error, agent_id: after }, 'the audit of the books waits for the database');
        await this.#rest(RETRY_MS);
      }
    }
  }

  /** The next books; the last of them, or 0 where these were all. */
  async #auditOn(after: number): Promise<number> {
    const books = await booksAfter(this.#database, after, BOOKS_PER_PAGE);
    for (const agent_id of books) {
      if (this.#stopping.signal.aborted) return after;
      await this.#auditBook(agent_id);
    }
    return books.at(-1) ?? 0;
  }

  async #auditBook(agent_id: AgentId): Promise<void> {
    let walked = unwalked;
    while (!this.#stopping.signal.aborted) {
      const from_ms = performance.now();
      const step = await auditStep(this.#database, agent_id, walked);
      if (step.kind === 'closed') this.#tell(agent_id, step.damage);
      await this.#rest(Math.max(REST_MS_MIN, this.#rests * (performance.now() - from_ms)));
      if (step.kind === 'closed') return;
      if (step.kind === 'gone') return;
      walked = step.walked;
      if (!step.ended) continue;
      if (step.marked && (await reopenBook(this.#database, agent_id, walked))) this.#opened(agent_id);
      return;
    }
  }

  #tell(agent_id: number, { what, place }: BookDamage): void {
    if (this.#told.has(agent_id)) return;
    this.#told.add(agent_id);
    const sentence = `book ${agent_id} is damaged: ${bookDamages[what]} (${what} at ${place})`;
    this.#logger.fatal({ agent_id, what, place }, `${sentence}. It is closed. ${WAY_ON}`);
  }

  #opened(agent_id: number): void {
    this.#told.delete(agent_id);
    this.#logger.warn({ agent_id }, 'a book that was closed has been found sound, and is open again');
  }

  async #rest(pause_ms: number): Promise<void> {
    await sleep(pause_ms, null, { signal: this.#stopping.signal, ref: false }).catch(() => {});
  }
}
