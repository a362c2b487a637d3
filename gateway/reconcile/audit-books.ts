import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Refusal } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { auditStart } from '../../subgraphs/book/audit/audit.ts';
import { auditNewest, auditStep, booksAfter, reopenBook } from '../../subgraphs/book/audit/audit-database.ts';
import { type BookDamage, bookDamageSentence } from '../../subgraphs/book/audit/damage.ts';
import type { Database } from '../../subgraphs/database.ts';

/** Pause after each step as a multiple of its duration, so that the audit uses at most a tenth of a core. */
const RESTS = 9;
/** Minimum pause after a step. */
const REST_MS_MIN = 20;
/** Pause between two rounds over all books. */
const ROUND_REST_MS = 2_000;
/** Pause after a failed read. */
const RETRY_MS = 5_000;
const BOOKS_PER_PAGE = 100;

export interface BookGuardOptions {
  /** Pause after each step, as a multiple of its duration. Default: `RESTS`. */
  readonly rests?: number;
  /** True while the log is halted. */
  readonly isHalted?: () => boolean;
}

/**
 * Audits every book from its first event, in the order of ids, again and again while the service runs. A book that contradicts itself is
 * closed in all processes by a mark on its head. A marked book that passes its audit is opened again.
 */
export class BookGuard {
  readonly #database: Database;
  readonly #rests: number;
  readonly #halted: () => boolean;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  /** Ids of the damaged books that have been logged. */
  readonly #told = new Set<number>();
  readonly #running: Promise<void>;

  private constructor(database: Database, logger: Logger, { rests = RESTS, isHalted = () => false }: BookGuardOptions) {
    this.#database = database;
    this.#rests = rests;
    this.#halted = isHalted;
    this.#logger = logger;
    this.#running = this.#audit();
  }

  /** Audits the most recently changed books before the service starts. */
  static async open(database: Database, logger: Logger, options: BookGuardOptions = {}): Promise<BookGuard> {
    const found = await auditNewest(database);
    const guard = new BookGuard(database, logger, options);
    for (const { agent_id, ...damage } of found) guard.#report(agent_id, damage);
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
        // While the log is halted, no marks of books are written.
        if (!this.#halted()) after = await this.#auditOn(after);
        if (after === 0 || this.#halted()) await this.#rest(ROUND_REST_MS);
      } catch (error) {
        this.#logger.warn(
          { err: error, agent_id: after },
          'books cannot be audited because of the error in err, such as an unavailable database; it is tried again every 5 seconds',
        );
        await this.#rest(RETRY_MS);
      }
    }
  }

  /** Audits the next books. Returns the id of the last one, or 0 if no books are left. */
  async #auditOn(after: number): Promise<number> {
    const books = await booksAfter(this.#database, after, BOOKS_PER_PAGE);
    for (const agent_id of books) {
      if (this.#stopping.signal.aborted || this.#halted()) return after;
      await this.#auditBook(agent_id).catch(error => this.#passOver(agent_id, error));
    }
    return books.at(-1) ?? 0;
  }

  async #auditBook(agent_id: AgentId): Promise<void> {
    let walked = auditStart;
    while (!this.#stopping.signal.aborted && !this.#halted()) {
      const from_ms = performance.now();
      const step = await auditStep(this.#database, agent_id, walked);
      if (step.kind === 'closed') this.#report(agent_id, step.damage);
      await this.#rest(Math.max(REST_MS_MIN, this.#rests * (performance.now() - from_ms)));
      if (step.kind === 'closed') return;
      if (step.kind === 'gone') return;
      walked = step.walked;
      if (!step.ended) continue;
      if (step.marked && (await reopenBook(this.#database, agent_id, walked))) this.#opened(agent_id);
      return;
    }
  }

  /**
   * Logs a book whose audit failed, so that it does not stop the others. @throws failures that concern all books: an unreachable database,
   * a halted log
   */
  #passOver(agent_id: AgentId, error: unknown): void {
    if (error instanceof Refusal) throw error;
    this.#logger.error({ err: error, agent_id }, 'a book could not be audited; the next round tries again');
  }

  #report(agent_id: number, damage: BookDamage): void {
    if (this.#told.has(agent_id)) return;
    this.#told.add(agent_id);
    this.#logger.fatal({ agent_id, ...damage }, bookDamageSentence(agent_id, damage));
  }

  #opened(agent_id: number): void {
    this.#told.delete(agent_id);
    this.#logger.warn(
      { agent_id },
      'the book of agent_id, which was closed because of damage, passed its audit and is open again',
    );
  }

  async #rest(pause_ms: number): Promise<void> {
    await sleep(pause_ms, null, { signal: this.#stopping.signal, ref: false }).catch(() => {});
  }
}
