import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import { lockBooks } from '../../../subgraphs/book/ledger/append.ts';
import { type CollectedCall, type Collection, collect } from '../../../subgraphs/book/ledger/collect.ts';
import { GroupCommit } from '../../../subgraphs/group-commit.ts';
import { DatabaseAway } from '../../../subgraphs/outage.ts';
import { lockLogHead, type OpenLog } from '../../../subgraphs/receipt/log/head.ts';
import { signedHeadAbove } from '../../../subgraphs/receipt/log/signed-heads.ts';
import { type SignedTreeHead } from '../../../subgraphs/receipt/log/tree-head.ts';
import { type Tx } from '../../../subgraphs/transaction.ts';
import { type Ground } from '../ground.ts';

/*
 * Everything that gets a receipt goes through here: calls that were sold, reports, completions and hand-offs. Row, receipt, leaf and head
 * are one commit; then the head is saved outside the database; then the caller is answered.
 */

/** One kind of item that gets receipts. Items that arrive together share a transaction, so `take` gets many. */
export interface RecordKind<Item, Outcome> {
  /**
   * Takes what the lock order has before the log's head: names, slots, claims, limits. Concurrency: each is taken in a sorted order, by
   * statements that raise or whose row counts are checked before the commit.
   */
  take(tx: Tx, items: readonly Item[]): Promise<Taken<Outcome>>;
}

/** The state of a batch when the log's head may be locked for it. */
export interface Taken<Outcome> {
  /** Statements that were sent before the lock and are awaited together with it, so that the log is locked for one round trip less. */
  readonly sent?: readonly Promise<unknown>[];
  /**
   * Books whose heads are locked in the same round trip as the log's. Left out if `append` locks rows that the lock order has between
   * them.
   */
  readonly books?: readonly AgentId[];
  /**
   * Returns the receipts and rows to append, under the log's lock and before other books are locked. Null if nothing is new: then the log is
   * not locked.
   */
  readonly append: ((log: OpenLog) => Promise<readonly Collection[]>) | null;
  /** Writes to tables that the lock order has after the books' heads. Returns the outcome of each item, in order. */
  end(appended: Appended | null): Promise<readonly Outcome[]>;
}

interface Appended {
  readonly log: OpenLog;
  /** The recorded call of each collection, in order. */
  readonly collected: readonly CollectedCall[];
  readonly tree_head: SignedTreeHead;
}

export interface Committed<Outcome> {
  readonly outcome: Outcome;
  /** Tree head of the batch. Null if it appended nothing. */
  readonly tree_head: SignedTreeHead | null;
}

/** The one transaction that records. */
function openRecord<Item, Outcome>(ground: Ground, kind: RecordKind<Item, Outcome>) {
  const { issuer, log, faults } = ground;
  return async (tx: Tx, items: readonly Item[]): Promise<readonly Committed<Outcome>[]> => {
    const { sent = [], books, append, end } = await kind.take(tx, items);
    let appended: Appended | null = null;
    if (append !== null) {
      const [locked, heads] = await Promise.all([
        lockLogHead(tx, log.known),
        books === undefined ? undefined : lockBooks(tx, books),
        ...sent,
      ]);
      appended = { log: locked, ...(await collect(tx, issuer, locked, await append(locked), heads)) };
    }
    const outcomes = await end(appended);
    await faults?.reach('in_record');
    return outcomes.map(outcome => ({ outcome, tree_head: appended?.tree_head ?? null }));
  };
}

/**
 * Returns the function that records an item, and its queue. Items that arrive together share a commit. Each resolves once the head of its
 * batch is saved outside the database.
 */
export function recordTogether<Item, Outcome>(ground: Ground, kind: RecordKind<Item, Outcome>) {
  const queue = new GroupCommit(ground.database, openRecord(ground, kind), limits.group_commit_items_max);
  return {
    queue,
    async record(item: Item): Promise<Outcome> {
      const { outcome, tree_head } = await queue.submit(item);
      if (tree_head !== null) await saveHead(ground, tree_head);
      return outcome;
    },
  };
}

/** Returns the function that records each item in its own transaction, for items whose locks cannot be sorted over a batch. */
export function recordAlone<Item, Outcome>(ground: Ground, kind: RecordKind<Item, Outcome>) {
  const run = openRecord(ground, kind);
  return async (item: Item): Promise<void> => {
    const [recorded] = await ground.database.transaction(tx => run(tx, [item]));
    if (recorded?.tree_head) await saveHead(ground, recorded.tree_head);
  };
}

/**
 * Adds a committed head to this process, then saves it outside the database with the heads of its books. The response is sent only
 * afterwards.
 * @throws DatabaseAway in doubt if a head cannot be saved: the record is committed, and may be lost with the database
 */
async function saveHead({ log, faults }: Ground, tree_head: SignedTreeHead): Promise<void> {
  log.known.addCommit(tree_head);
  await faults?.reach('after_record');
  const saved = log.saved_head.save(tree_head).catch(cause => {
    throw cause instanceof Refusal ? cause : new DatabaseAway(cause, { in_doubt: true });
  });
  await Promise.all([saved, log.books.whenSaved()]);
}

/**
 * Saves the head above a receipt of an earlier commit before the receipt is returned: the process that committed it may have died before it
 * saved the head.
 */
export async function requireSaved({ database, log }: Ground, task_id: string): Promise<void> {
  log.known.requireSound();
  const above = await signedHeadAbove(database, task_id, log.saved_head.tree_size);
  if (above !== null) await log.saved_head.save(above);
}
