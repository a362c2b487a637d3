import type { Random } from '../../subgraphs/clock.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import { isRolledBack } from '../../subgraphs/outage.ts';
import { isPosted } from '../../subgraphs/receipt/claim/settlement/write.ts';
import { newSettlementId } from './base/settle/journal.ts';
import type { CommitSettling } from './settler.ts';

export type JournalledOne =
  | { readonly kind: 'journalled'; readonly settlement_id: string }
  /** The claim is not ours to settle any more. */
  | { readonly kind: 'lost' }
  /** Rolled back: nothing stands. */
  | { readonly kind: 'failed'; readonly cause: unknown }
  /** The commit was asked for and its answer was lost. */
  | { readonly kind: 'in_doubt'; readonly cause: unknown };

export interface JournalParts<I> {
  readonly database: Database;
  readonly random: Random;
  readonly commitSettling: CommitSettling<I>;
}

/**
 * The one commit of a payment that is settled by itself: its claim becomes `settling`, and `write` puts down, in the same
 * transaction, all that going on needs.
 */
export async function journalOne<I extends { readonly claim_key: string }>(
  { database, random, commitSettling }: JournalParts<I>,
  item: I,
  from_block: number,
  write: (tx: Tx, settlement_id: string) => Promise<void>,
): Promise<JournalledOne> {
  const settlement_id = newSettlementId(random);
  let moved: boolean | null = null;
  try {
    await database.transaction(async tx => {
      moved = null;
      const keys = await commitSettling(tx, [item], { settlement_id, from_block, replaces: [] });
      const held = keys.has(item.claim_key);
      if (held) await write(tx, settlement_id);
      moved = held;
    });
  } catch (cause) {
    if (moved === null || isRolledBack(cause)) return { kind: 'failed', cause };
    if (!(await isPosted(database, settlement_id).catch(() => false))) return { kind: 'in_doubt', cause };
  }
  return moved ? { kind: 'journalled', settlement_id } : { kind: 'lost' };
}

/** Of a payment that did not come to be journalled: whether it is known that nothing stands. */
export const unjournalled = {
  lost: { kind: 'not_sent', reason: 'claim_lost' },
  failed: { kind: 'not_sent', reason: 'journal_failed' },
  in_doubt: { kind: 'unknown', reason: 'journal_failed' },
} as const;
