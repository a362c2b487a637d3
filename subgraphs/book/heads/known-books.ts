import { LRUCache } from 'lru-cache';
import { type AgentId, agentId } from '../../../schema/ids.ts';
import type { Database, Tx } from '../../database.ts';
import { DatabaseAway } from '../../outage.ts';
import { type BrokenBook, type BrokenBooks, brokenBooks } from '../../receipt/log/broken-books.ts';
import { LogHalted } from '../../receipt/log/halt.ts';
import type { KnownLog } from '../../receipt/log/known-log.ts';
import { EMPTY_ROOT } from '../../receipt/verify/merkle-proof.ts';
import { readsOf } from '../../transaction.ts';
import { type LockedHead, type TransactionChanges, watchTransaction } from './book-changes.ts';
import { type CredentialHead, compareEventHeads, type EventHead, isEventHead, type KnownHead } from './compare.ts';
import { booksRolledBack, compareSavedHeads, type DamageListener } from './rollback.ts';
import type { SavedHeads } from './saved-heads.ts';
import { allHeads, booksThatStand, brokenBook, lostCredentials } from './stand.ts';

/** Number of books whose head is kept in memory, about 200 bytes each. The heads of other books are only in the file. */
const REMEMBERED_MAX = 20_000;
/** Number of the most recently changed books, and of sessions and revocations, that are checked at each beat. */
const LOOKED_AT_MAX = 100;

/** Maximum number of attempts of a transaction, if its books seem to have lost events. */
const TRIES_MAX = 3;

/**
 * Thrown if books under their locks differ from what was committed. It ends the transaction, and the books are audited outside of
 * it.
 */
class BooksDiffer extends Error {
  override name = 'BooksDiffer';
  readonly broken: readonly BrokenBook[];

  constructor(broken: readonly BrokenBook[]) {
    super('books are not what was committed');
    this.broken = broken;
  }
}

export interface KnownBooksOptions {
  /** Called for a book that was closed because it contradicts itself. */
  readonly damaged?: DamageListener;
}

/**
 * Heads that this process committed: in memory for the books that changed last, on disk for all. A sound book that does not
 * continue from its head under its lock halts the log, because its table has lost events and other tables may have too.
 */
export class KnownBooks {
  readonly #log: Pick<KnownLog, 'mismatch' | 'newest' | 'stop'>;
  readonly #saved: SavedHeads;
  readonly #options: KnownBooksOptions;
  readonly #heads = new LRUCache<AgentId, EventHead>({ max: REMEMBERED_MAX });
  readonly #credentials = new LRUCache<string, CredentialHead>({ max: LOOKED_AT_MAX });
  readonly #judging = new Map<AgentId, Promise<boolean>>();

  constructor(log: Pick<KnownLog, 'mismatch' | 'newest' | 'stop'>, saved: SavedHeads, options: KnownBooksOptions = {}) {
    this.#log = log;
    this.#saved = saved;
    this.#options = options;
  }

  /**
   * Compares all saved heads with the database. Continues from the heads that still exist, and returns the others as `broken`. If
   * there is no file, the heads in the database become the known ones, and `begun` is their number.
   * @throws UnreadableHeads
   */
  async open(database: Database): Promise<{ readonly broken: BrokenBooks | null; readonly begun: number }> {
    for (;;) {
      const saved = await this.#saved.open();
      if (saved !== null) return { broken: await this.#goOn(database, saved), begun: 0 };
      let begun = 0;
      const counted = async function* () {
        for await (const page of allHeads(database)) {
          begun += page.filter(isEventHead).length;
          yield page;
        }
      };
      // Another process may have created the file at the same time and written to it.
      if (await this.#saved.begin(counted())) return { broken: null, begun };
    }
  }

  /**
   * Heads of all books, from the database and from this process, which may know newer ones. A lost file is written again from
   * these.
   */
  async *all(database: Pick<Database, 'query'>): AsyncIterable<readonly KnownHead[]> {
    yield* allHeads(database);
    yield [...this.#heads.values(), ...this.#credentials.values()];
  }

  /**
   * Returns the database for writers of books. When a transaction returns, the heads that it committed are known here and are being
   * written to disk. With `waits` they are on disk.
   * @throws DatabaseAway, in doubt if the transaction is committed but its heads could not be saved
   */
  track(database: Database, { waits }: { readonly waits: boolean }): Database {
    return {
      ...database,
      transaction: async (work, bound) => {
        for (let tries = 1; ; tries++) {
          let left: TransactionChanges = { books: this, heads: new Map(), credentials: [], waits };
          try {
            const result = await database.transaction(async tx => {
              // A transaction that is run again starts without changes.
              left = { books: this, heads: new Map(), credentials: [], waits };
              watchTransaction(tx, left);
              return work(tx);
            }, bound);
            if (left.heads.size + left.credentials.length === 0) return result;
            this.#committed(left);
            if (waits) await this.whenSaved();
            return result;
          } catch (error) {
            if (!(error instanceof BooksDiffer)) throw error;
            await this.#judge(database, error.broken);
            if (tries === TRIES_MAX) throw new DatabaseAway(error);
          }
        }
      },
    };
  }

  /** Whether committed heads can be saved. */
  get saves(): boolean {
    return !this.#saved.fails;
  }

  /** @throws DatabaseAway */
  requireSaves(): void {
    if (!this.saves) throw new DatabaseAway(new Error('the heads of books cannot be saved'));
  }

  /**
   * Resolves when the heads committed so far are on disk.
   * @throws DatabaseAway in doubt, because they are committed and may be lost with the database
   */
  async whenSaved(): Promise<void> {
    try {
      await this.#saved.whenSaved();
    } catch (cause) {
      throw new DatabaseAway(cause, { in_doubt: true });
    }
  }

  /**
   * Checks the books that changed last, without locks.
   * @throws LogHalted
   */
  async look(database: Database): Promise<void> {
    const heads: EventHead[] = [];
    for (const head of this.#heads.values()) {
      heads.push(head);
      if (heads.length === LOOKED_AT_MAX) break;
    }
    const lost = await lostCredentials(database, [...this.#credentials.values()]);
    if (lost.length > 0) throw this.#stop(brokenBooks([], lost.length));
    const { broken } = await booksThatStand(database, heads);
    if (broken.length > 0) await this.#judge(database, broken);
  }

  async close(): Promise<void> {
    await this.#saved.close();
  }

  /**
   * Checks the books that this transaction has locked.
   * @throws LogHalted, BooksDiffer, and DatabaseAway if their heads could not be saved
   */
  async requireGoesOn(
    tx: Tx,
    agent_ids: readonly AgentId[],
    { found, waits }: { readonly found: ReadonlyMap<AgentId, LockedHead>; readonly waits: boolean },
  ): Promise<void> {
    if (this.#log.mismatch) throw new LogHalted(this.#log.mismatch);
    // Payments that have already moved do not wait, so they are recorded even if heads cannot be saved.
    if (waits) this.requireSaves();
    const broken: BrokenBook[] = [];
    const longer: EventHead[] = [];
    for (const agent_id of new Set(agent_ids)) {
      const known = this.#heads.get(agent_id);
      const there = found.get(agent_id);
      if (!known || there?.damaged) continue;
      const head = there ? { position: there.position, hash: there.event_hash } : null;
      const comparison = compareEventHeads(known, head);
      if (comparison === 'longer') longer.push(known);
      if (comparison === 'gone_back') broken.push(brokenBook(known, head));
    }
    // Another process, or this transaction itself, has appended events to these books.
    if (longer.length > 0) broken.push(...(await booksThatStand(readsOf(tx), longer)).broken);
    if (broken.length > 0) throw new BooksDiffer(broken);
  }

  async #goOn(database: Database, saved: readonly KnownHead[]): Promise<BrokenBooks | null> {
    const { gone_back, lost, newest } = await compareSavedHeads(database, saved, this.#options.damaged);
    const broken = brokenBooks(gone_back, lost.length);
    if (broken) return broken;
    const positions = new Map(saved.filter(isEventHead).map(({ agent_id, position }) => [agent_id, position]));
    for (const head of newest) this.#remember(head);
    for (const head of saved) if (!isEventHead(head)) this.#credentials.set(head.hash, head);
    // Adds heads of commits by other processes, and heads that a crash kept from being written.
    this.#saved.add(newest.filter(({ agent_id, position }) => position > (positions.get(agent_id) ?? 0)));
    return null;
  }

  /**
   * Resolves if none of the books has lost events. A book that contradicts itself is closed by then.
   * @throws LogHalted
   */
  async #judge(database: Database, broken: readonly BrokenBook[]): Promise<void> {
    const gone_back = await Promise.all(
      broken.map(async book => ((await this.#hasGoneBack(database, book)) ? [book] : [])),
    );
    const books = brokenBooks(gone_back.flat());
    if (books !== null) throw this.#stop(books);
  }

  #stop(books: BrokenBooks | null): LogHalted {
    const head = this.#log.newest ?? { tree_size: 0, root_hash: EMPTY_ROOT.toString('hex') };
    return this.#log.stop({ known: head, found: head, ...(books && { books }) });
  }

  /** Runs one audit for all transactions that find the same book at the same time. */
  #hasGoneBack(database: Database, book: BrokenBook): Promise<boolean> {
    const agent_id = agentId(book.agent_id);
    const judging = this.#judging.get(agent_id);
    if (judging) return judging;
    const judged = booksRolledBack(database, [book], this.#options.damaged)
      .then(({ length }) => length > 0)
      .finally(() => this.#judging.delete(agent_id));
    this.#judging.set(agent_id, judged);
    return judged;
  }

  #committed({ heads, credentials }: Pick<TransactionChanges, 'heads' | 'credentials'>): void {
    for (const head of heads.values()) this.#remember(head);
    for (const head of credentials) this.#credentials.set(head.hash, head);
    this.#saved.add([...heads.values(), ...credentials]);
  }

  /** Keeps the newer head, because commits may be reported in another order than they were made. */
  #remember(head: EventHead): void {
    const known = this.#heads.get(head.agent_id);
    if (!known || known.position < head.position) this.#heads.set(head.agent_id, head);
  }
}
