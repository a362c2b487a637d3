import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Refusal } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { unwalked } from '../../subgraphs/book/audit/audit.ts';
import { auditNewest, auditStep, booksAfter, reopenBook } from '../../subgraphs/book/audit/audit-stored.ts';
import { type BookDamage, bookDamageSentence } from '../../subgraphs/book/audit/damage.ts';
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

export interface BookGuardOptions {
  /** How many times as long as each step took it rests after it. */
  readonly rests?: number;
  /** Whether the log is halted. */
  readonly halted?: () => boolean;
}

/**
 * Audits every book from its first event on while the service runs, by the order of their ids and over again for ever.
 * A book that contradicts itself is closed by a mark on its head, in all processes at once; one that was marked and is
 * found sound from end to end is opened again.
 */
export class BookGuard {
  readonly #database: Database;
  readonly #rests: number;
  readonly #halted: () => boolean;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  /** Those of which the log has been told. */
  readonly #told = new Set<number>();
  readonly #running: Promise<void>;

  private constructor(database: Database, logger: Logger, { rests = RESTS, halted = () => false }: BookGuardOptions) {
    this.#database = database;
    this.#rests = rests;
    this.#halted = halted;
    this.#logger = logger;
    this.#running = this.#audit();
  }

  /** The books that moved last are looked at before anything is served. */
  static async open(database: Database, logger: Logger, options: BookGuardOptions = {}): Promise<BookGuard> {
    const found = await auditNewest(database);
    const guard = new BookGuard(database, logger, options);
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
        // Of books that went back nothing is to be written, neither that they are damaged nor that they are sound.
        if (!this.#halted()) after = await this.#auditOn(after);
        if (after === 0 || this.#halted()) await this.#rest(ROUND_REST_MS);
      } catch (error) {
        this.#logger.warn({ err: error, agent_id: after }, 'the audit of books is waiting for the database');
        await this.#rest(RETRY_MS);
      }
    }
  }

  /** The next books; the last of them, or 0 where these were all. */
  async #auditOn(after: number): Promise<number> {
    const books = await booksAfter(this.#database, after, BOOKS_PER_PAGE);
    for (const agent_id of books) {
      if (this.#stopping.signal.aborted || this.#halted()) return after;
      await this.#auditBook(agent_id).catch(error => this.#passOver(agent_id, error));
    }
    return books.at(-1) ?? 0;
  }

  async #auditBook(agent_id: AgentId): Promise<void> {
    let walked = unwalked;
    while (!this.#stopping.signal.aborted && !this.#halted()) {
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

  /** One that fails, while the database is there, keeps no other from being audited. @throws what holds of all: the database is away, the log is halted */
  #passOver(agent_id: AgentId, error: unknown): void {
    if (error instanceof Refusal) throw error;
    this.#logger.error({ err: error, agent_id }, 'a book could not be audited; the next round tries again');
  }

  #tell(agent_id: number, damage: BookDamage): void {
    if (this.#told.has(agent_id)) return;
    this.#told.add(agent_id);
    this.#logger.fatal({ agent_id, ...damage }, bookDamageSentence(agent_id, damage));
  }

  #opened(agent_id: number): void {
    this.#told.delete(agent_id);
    this.#logger.warn({ agent_id }, 'a closed book was found sound and is open again');
  }

  async #rest(pause_ms: number): Promise<void> {
    await sleep(pause_ms, null, { signal: this.#stopping.signal, ref: false }).catch(() => {});
  }
}
