import { LRUCache } from 'lru-cache';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database, Tx } from '../../database.ts';
import { type BrokenBook, brokenBooks } from '../../receipt/log/broken-books.ts';
import { LogHalted } from '../../receipt/log/halt.ts';
import type { KnownLog } from '../../receipt/log/known-log.ts';
import { EMPTY_ROOT } from '../../receipt/verify/merkle-proof.ts';
import { readsOf } from '../../transaction.ts';
import { compareEventHeads, type EventHead } from './compare.ts';
import type { SavedHeads } from './saved-heads.ts';
import { allBookHeads, booksThatStand, brokenBook } from './stand.ts';

/** Of so many books the head is compared in memory; each takes some 200 bytes. The others are known by the file alone. */
const REMEMBERED_MAX = 20_000;
/** So many of those that moved last are looked up at each beat. */
const LOOKED_AT_MAX = 100;

/** A head under its lock, as far as it is compared. */
interface FoundHead {
  readonly position: number;
  readonly event_hash: string;
  readonly damaged: boolean;
}

/** What a transaction has done to books, while it is open. */
interface Left {
  readonly known: KnownBooks;
  readonly heads: Map<AgentId, EventHead>;
}

const open_transactions = new WeakMap<Tx, Left>();

/**
 * What this process has committed of books: in memory for those that moved last, and on disk for all. A book under its lock that does
 * not go on from there halts the log, since its table has gone back and others may have gone with it.
 */
export class KnownBooks {
  readonly #log: Pick<KnownLog, 'mismatch' | 'newest' | 'stop'>;
  readonly #saved: SavedHeads;
  readonly #heads = new LRUCache<AgentId, EventHead>({ max: REMEMBERED_MAX });

  constructor(log: Pick<KnownLog, 'mismatch' | 'newest' | 'stop'>, saved: SavedHeads) {
    this.#log = log;
    this.#saved = saved;
  }

  /**
   * Looks up all that was saved, and goes on from what stands; returns what does not. Where nothing was ever saved, what is found is
   * what is known. @throws UnreadableHeads
   */
  async open(database: Database): Promise<{ readonly broken: readonly BrokenBook[]; readonly begun: boolean }> {
    const saved = await this.#saved.read();
    if (saved === null) {
      await this.#saved.start(allBookHeads(database));
      return { broken: [], begun: true };
    }
    const { broken, newest } = await booksThatStand(database, saved);
    if (broken.length > 0) return { broken, begun: false };
    const positions = new Map(saved.map(({ agent_id, position }) => [agent_id, position]));
    for (const head of newest) this.#remember(head);
    // What others have committed, and what a kill kept from being written.
    this.#saved.add(newest.filter(({ agent_id, position }) => position > (positions.get(agent_id) ?? 0)));
    return { broken, begun: false };
  }

  /**
   * The database as all that writes books has it: what it commits is known here and begins to be saved before its caller goes on. With
   * `waits` it has been saved by then.
   */
  knowing(database: Database, { waits }: { readonly waits: boolean }): Database {
    return {
      ...database,
      transaction: async (work, bound) => {
        let heads: Left['heads'] = new Map();
        const result = await database.transaction(async tx => {
          // One that is begun again has done nothing before.
          heads = new Map();
          open_transactions.set(tx, { known: this, heads });
          return work(tx);
        }, bound);
        if (heads.size === 0) return result;
        this.#committed([...heads.values()]);
        if (waits) await this.saved();
        return result;
      },
    };
  }

  /** Resolves when all that was committed so far is on disk. @throws where it cannot be written */
  async saved(): Promise<void> {
    await this.#saved.saving;
  }

  /** Looks up, under no lock, the books that moved last here. @throws LogHalted */
  async look(database: Pick<Database, 'query'>): Promise<void> {
    const heads: EventHead[] = [];
    for (const head of this.#heads.values()) {
      heads.push(head);
      if (heads.length === LOOKED_AT_MAX) break;
    }
    const { broken } = await booksThatStand(database, heads);
    if (broken.length > 0) throw this.#stop(broken);
  }

  async close(): Promise<void> {
    await this.#saved.close();
  }

  /** Those that are locked by this transaction. @throws LogHalted */
  async requireGoesOn(tx: Tx, agent_ids: readonly AgentId[], found: ReadonlyMap<AgentId, FoundHead>): Promise<void> {
    if (this.#log.mismatch) throw new LogHalted(this.#log.mismatch);
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
    if (broken.length === 0) return;
    // Unless this process stood still: then the server has ended its session, others have committed, and that fails here.
    await tx.query('select');
    throw this.#stop(broken);
  }

  #stop(broken: readonly BrokenBook[]): LogHalted {
    const books = brokenBooks(broken);
    const head = this.#log.newest ?? { tree_size: 0, root_hash: EMPTY_ROOT.toString('hex') };
    if (books === null) throw new RangeError('no book is broken');
    return this.#log.stop({ known: head, found: head, books });
  }

  #committed(heads: readonly EventHead[]): void {
    for (const head of heads) this.#remember(head);
    this.#saved.add(heads);
  }

  /** Commits may be heard of in another order than they were made in. */
  #remember(head: EventHead): void {
    const known = this.#heads.get(head.agent_id);
    if (!known || known.position < head.position) this.#heads.set(head.agent_id, head);
  }
}

/** Books that a transaction has locked must go on from what its process knows. @throws LogHalted */
export async function requireBooksGoOn(
  tx: Tx,
  agent_ids: readonly AgentId[],
  found: ReadonlyMap<AgentId, FoundHead>,
): Promise<void> {
  await open_transactions.get(tx)?.known.requireGoesOn(tx, agent_ids, found);
}

/** Known once the transaction is committed. */
export function leaveBooks(tx: Tx, events: readonly EventHead[]): void {
  const heads = open_transactions.get(tx)?.heads;
  for (const { agent_id, position, hash } of heads ? events : []) {
    if ((heads?.get(agent_id)?.position ?? 0) < position) heads?.set(agent_id, { agent_id, position, hash });
  }
}
