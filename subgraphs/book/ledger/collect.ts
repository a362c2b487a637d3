import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import type { RowBirth, RowRecord } from '../../../schema/book-row.ts';
import { isSpentElsewhere } from '../../../schema/evidence.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { type Tx } from '../../database.ts';
import { type Issuer } from '../../receipt/issuer/signing-keys.ts';
import { type OpenLog } from '../../receipt/log/head.ts';
import { type SignedTreeHead } from '../../receipt/log/tree-head.ts';
import { issueReceipts, type PreparedReceipt } from '../../receipt/receipt/issue.ts';
import { type Receipt } from '../../receipt/receipt/receipt.entity.ts';
import { appendAlerts, withHabits } from './alert.ts';
import { appendRow, type EventRecord, headOf, lockBooks, storeBirths, storeBooks } from './append.ts';
import { termsHash } from './terms.ts';
import { tellWouldBlock, type WouldBlock } from './would-block.ts';

/*
 * This folder is the only writer of books, rows and events (test/tidy/places.ts). Every function takes the transaction and
 * many items, so that callers that arrive together share one commit. Lock order, everywhere: claim keys sorted → slots →
 * log head → what a stamp writes → book heads by id.
 */

/** What one collected call leaves behind: a receipt, and a row where it lands on a book. */
export interface Collection {
  readonly prepared: PreparedReceipt;
  readonly landing: {
    readonly agent_id: AgentId;
    readonly birth: RowBirth;
    readonly reserved: AtomicAmount;
    /** What policies in shadow mode said of the call when its book let it pass. */
    readonly would_block?: readonly WouldBlock[];
  } | null;
  /** Rows on other books that the same receipt is of: nothing was held for them, and no policy is asked. */
  readonly also_on?: readonly { readonly agent_id: AgentId; readonly birth: RowBirth }[];
}

export interface Collected {
  readonly receipt: Receipt;
  readonly seq: number | null;
}

/** A book begins empty; `agent_id` is its name for ever. */
export function openBook(tx: Tx, agent_id: AgentId): void {
  tx.write({
    text: 'insert into book (agent_id, opened_at, terms_hash) values ($1, now(), $2)',
    values: [agent_id, termsHash(agent_id, { budget_atomic: null, policy: {}, shadow: {} })],
  });
}

/**
 * Receipts, leaves, the new tree head, rows, events, counters and wake-ups of a batch: one transaction, one truth.
 * `log` is the log's head, which the caller has locked before all that a batch writes.
 */
export async function collect(
  tx: Tx,
  issuer: Issuer,
  log: OpenLog,
  items: readonly Collection[],
): Promise<{ collected: readonly Collected[]; tree_head: SignedTreeHead }> {
  const locked = await lockBooks(
    tx,
    items.flatMap(({ landing, also_on = [] }) => [landing?.agent_id ?? [], also_on.map(it => it.agent_id)].flat()),
  );
  const books = await withHabits(tx, locked, landingOn(items), log.collected_at_ms);

  const rows: RowRecord[] = [];
  const events: EventRecord[] = [];
  const sequenced = items.map(({ prepared, landing, also_on = [] }) => {
    for (const { agent_id, birth } of also_on) {
      const born = appendRow(headOf(books, agent_id), birth, log.collected_at_ms);
      books.set(agent_id, born.head);
      rows.push(born.row);
      events.push(born.event);
    }
    if (landing === null) return { prepared, book_seq: null };
    const before = headOf(books, landing.agent_id);
    const born = appendRow(before, landing.birth, log.collected_at_ms);
    const blocks = tellWouldBlock(born.head, born.row, landing.would_block ?? []);
    const alerts = appendAlerts(before, { head: blocks.head, row: born.row });
    const reserved_atomic = atomicAmount(alerts.head.reserved_atomic - landing.reserved);
    books.set(landing.agent_id, { ...alerts.head, reserved_atomic });
    rows.push(born.row);
    events.push(born.event, ...blocks.events, ...alerts.events);
    return { prepared, book_seq: born.row.seq };
  });

  const receipts = await issueReceipts(tx, log, issuer, sequenced);
  const tree_head = log.store(tx, issuer);
  storeBirths(tx, rows);
  storeBooks(tx, books, events);
  const collected = receipts.map((receipt, index) => ({ receipt, seq: sequenced[index]?.book_seq ?? null }));
  return { collected, tree_head };
}

function landingOn(items: readonly Collection[]): { agent_id: AgentId; amount: bigint }[] {
  return items.flatMap(({ landing }) => {
    if (landing === null) return [];
    const { amount, evidence } = landing.birth;
    return amount === null || isSpentElsewhere(evidence) ? [] : [{ agent_id: landing.agent_id, amount }];
  });
}
