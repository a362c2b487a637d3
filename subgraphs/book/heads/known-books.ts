import { LRUCache } from 'lru-cache';
import { type AgentId, agentId } from '../../../schema/ids.ts';
import type { Database, Tx } from '../../database.ts';
import { DatabaseAway } from '../../outage.ts';
import { type BrokenBook, type BrokenBooks, brokenBooks } from '../../receipt/log/broken-books.ts';
import { LogHalted } from '../../receipt/log/halt.ts';
import type { KnownLog } from '../../receipt/log/known-log.ts';
import { EMPTY_ROOT } from '../../receipt/verify/merkle-proof.ts';
import { readsOf } from '../../transaction.ts';
import { type CredentialHead, compareEventHeads, type EventHead, isEventHead, type KnownHead } from './compare.ts';
import { booksGoneBack, type DamageHeard, heldAgainst } from './gone-back.ts';
import { type Left, type LockedHead, watchTransaction } from './leave.ts';
import type { SavedHeads } from './saved-heads.ts';
import { allHeads, booksThatStand, brokenBook, lostCredentials } from './stand.ts';

/** Of so many books the head is compared in memory; each takes some 200 bytes. The others are known by the file alone. */
const REMEMBERED_MAX = 20_000;
/** So many of those that moved last are looked up at each beat, and so many of the newest sessions and revocations. */
const LOOKED_AT_MAX = 100;

/** So often a transaction is begun again because a book that seemed to have gone back had not. */
const TRIES_MAX = 3;

/** Under their locks these books are not what was committed. It ends the transaction; what became of them is judged outside of it. */
class BooksDiffer extends Error {
  override name = 'BooksDiffer';
  readonly broken: readonly BrokenBook[];

  constructor(broken: readonly BrokenBook[]) {
    super('books are not what was committed');
    this.broken = broken;
  }
}

export interface KnownBooksOptions {
  /** Hears of a book that was closed because it contradicts itself. */
  readonly damaged?: DamageHeard;
}

/**
 * What this process has committed of books: in memory for those that moved last, and on disk for all. A book under its lock that does
 * not go on from there and is sound by itself halts the log, since its table has gone back and others may have gone with it.
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
   * Looks up all that was saved, and goes on from what stands; returns what does not. Where nothing was ever saved, what is found is
   * what is known: `begun` says of how many books. @throws UnreadableHeads
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
      // Another process may have begun it at the same time, and may have written on it by now.
      if (await this.#saved.begin(counted())) return { broken: null, begun };
    }
  }

  /** The heads of all books, by the database and by what is known beyond that: of these a lost file is written again. */
  async *all(database: Pick<Database, 'query'>): AsyncIterable<readonly KnownHead[]> {
    yield* allHeads(database);
    yield [...this.#heads.values(), ...this.#credentials.values()];
  }

  /**
   * The database as all that writes books has it: what it commits is known here and begins to be saved before its caller goes on. With
   * `waits` it has been saved by then. @throws DatabaseAway, in doubt where it is committed and could not be saved
   */
  knowing(database: Database, { waits }: { readonly waits: boolean }): Database {
    return {
      ...database,
      transaction: async (work, bound) => {
        for (let tries = 1; ; tries++) {
          let left: Left = { books: this, heads: new Map(), credentials: [], waits };
          try {
            const result = await database.transaction(async tx => {
              // One that is begun again has done nothing before.
              left = { books: this, heads: new Map(), credentials: [], waits };
              watchTransaction(tx, left);
              return work(tx);
            }, bound);
            if (left.heads.size + left.credentials.length === 0) return result;
            this.#committed(left);
            if (waits) await this.saved();
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

  /** Whether what is committed of books can be saved. */
  get saves(): boolean {
    return !this.#saved.fails;
  }

  /** @throws DatabaseAway */
  requireSaves(): void {
    if (!this.saves) throw new DatabaseAway(new Error('the heads of books cannot be saved'));
  }

  /** Resolves when all that was committed so far is on disk. @throws DatabaseAway in doubt: it stands, and may be lost with the database */
  async saved(): Promise<void> {
    try {
      await this.#saved.saved();
    } catch (cause) {
      throw new DatabaseAway(cause, { in_doubt: true });
    }
  }

  /** Looks up, under no lock, the books that moved last here. @throws LogHalted */
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

  /** Those that are locked by this transaction. @throws LogHalted, BooksDiffer, and DatabaseAway where it could not be saved */
  async requireGoesOn(
    tx: Tx,
    agent_ids: readonly AgentId[],
    { found, waits }: { readonly found: ReadonlyMap<AgentId, LockedHead>; readonly waits: boolean },
  ): Promise<void> {
    if (this.#log.mismatch) throw new LogHalted(this.#log.mismatch);
    // Money that has moved is recorded all the same.
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
    // Others have gone on with it, or this transaction has.
    if (longer.length > 0) broken.push(...(await booksThatStand(readsOf(tx), longer)).broken);
    if (broken.length > 0) throw new BooksDiffer(broken);
  }

  async #goOn(database: Database, saved: readonly KnownHead[]): Promise<BrokenBooks | null> {
    const { gone_back, lost, newest } = await heldAgainst(database, saved, this.#options.damaged);
    const broken = brokenBooks(gone_back, lost.length);
    if (broken) return broken;
    const positions = new Map(saved.filter(isEventHead).map(({ agent_id, position }) => [agent_id, position]));
    for (const head of newest) this.#remember(head);
    for (const head of saved) if (!isEventHead(head)) this.#credentials.set(head.hash, head);
    // What others have committed, and what a kill kept from being written.
    this.#saved.add(newest.filter(({ agent_id, position }) => position > (positions.get(agent_id) ?? 0)));
    return null;
  }

  /** Resolves where none of them has gone back: one that contradicts itself is closed by then. @throws LogHalted */
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

  /** One audit for all who meet the same book at the same time. */
  #hasGoneBack(database: Database, book: BrokenBook): Promise<boolean> {
    const agent_id = agentId(book.agent_id);
    const judging = this.#judging.get(agent_id);
    if (judging) return judging;
    const judged = booksGoneBack(database, [book], this.#options.damaged)
      .then(({ length }) => length > 0)
      .finally(() => this.#judging.delete(agent_id));
    this.#judging.set(agent_id, judged);
    return judged;
  }

  #committed({ heads, credentials }: Pick<Left, 'heads' | 'credentials'>): void {
    for (const head of heads.values()) this.#remember(head);
    for (const head of credentials) this.#credentials.set(head.hash, head);
    this.#saved.add([...heads.values(), ...credentials]);
  }

  /** Commits may be heard of in another order than they were made in. */
  #remember(head: EventHead): void {
    const known = this.#heads.get(head.agent_id);
    if (!known || known.position < head.position) this.#heads.set(head.agent_id, head);
  }
}
