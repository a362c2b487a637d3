import { isPosted, journalPost } from '../../../subgraphs/receipt/index.ts';
import type { ChainBlock } from '../base/base-shapes.ts';
import { lookBack, newSettlementId } from '../settle/journal.ts';
import type { SettleItem } from '../settle/submission.ts';
import type { FacilitatorSettlerOptions } from './settler.ts';

export type Journalled =
  | { readonly kind: 'journalled'; readonly settlement_id: string; readonly from_block: number }
  /** The claim is not ours to settle any more. */
  | { readonly kind: 'lost' }
  /** Rolled back: nothing stands. */
  | { readonly kind: 'failed'; readonly cause: unknown }
  /** The commit was asked for and its answer was lost. */
  | { readonly kind: 'in_doubt'; readonly cause: unknown };

type Parts<I extends SettleItem> = Pick<FacilitatorSettlerOptions<I>, 'database' | 'random' | 'commitSettling'>;

/** The one commit of a payment that is handed over: its claim becomes `settling`, with all that going on needs. */
export async function journal<I extends SettleItem>(
  { database, random, commitSettling }: Parts<I>,
  item: I,
  head: ChainBlock,
): Promise<Journalled> {
  const settlement_id = newSettlementId(random);
  const from_block = lookBack(head.number);
  const { claim_key, authorization } = item;
  let moved: boolean | null = null;
  try {
    await database.transaction(async tx => {
      moved = null;
      const keys = await commitSettling(tx, [item], { settlement_id, from_block, replaces: [] });
      const held = keys.has(claim_key);
      const valid_before = authorization.valid_before_seconds;
      if (held) await journalPost(tx, { settlement_id, from_block, valid_before });
      moved = held;
    });
  } catch (cause) {
    if (moved === null) return { kind: 'failed', cause };
    if (!(await isPosted(database, settlement_id).catch(() => false))) return { kind: 'in_doubt', cause };
  }
  return moved ? { kind: 'journalled', settlement_id, from_block } : { kind: 'lost' };
}
