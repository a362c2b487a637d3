import type { BackingRail, HostBasis } from '../../../schema/board/post.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import type { PostRequest } from '../../../schema/requests/board.ts';
import { citedRow } from '../../book/page/cited-row.ts';
import { backingOf, hostBasis, isPaidHere } from '../backing.ts';
import type { BoardContext } from '../context.ts';
import type { ByAuthor } from '../stamp.ts';

/** What a post rests on, found before its stamp is paid and sealed with it: JSON. */
export interface PostBacking extends JsonObject {
  readonly amount_atomic: string;
  readonly rail: BackingRail;
  readonly host_basis: HostBasis;
  /** See `isPaidHere`; a claim that was sealed before this was asked does not say. */
  readonly paid_here: boolean;
}

type BackingContext = Pick<
  BoardContext,
  'database' | 'base_url' | 'hostOfHub' | 'isHubHost' | 'treasuries' | 'walletOfAgent'
>;

/**
 * The cited receipt, where it is the author's own, was paid to somebody else, and is of the endpoint's host; without one the stamp itself, of
 * which nobody but the author says where it was earned.
 * @throws receipt_not_on_book, receipt_not_qualifying, receipt_host_differs
 */
export async function backedBy(
  { agent_id, receipt_ref, endpoint_host }: Pick<PostRequest, 'receipt_ref' | 'endpoint_host'> & ByAuthor,
  context: BackingContext,
): Promise<PostBacking> {
  const { database, base_url, hostOfHub, isHubHost, treasuries, walletOfAgent } = context;
  if (receipt_ref === null)
    return {
      amount_atomic: limits.stamp_price_atomic.toString(),
      rail: 'usdc',
      host_basis: 'declared',
      paid_here: false,
    };
  const row = await citedRow(database, agent_id, receipt_ref);
  const own_wallet = await walletOfAgent(agent_id);
  const backing = backingOf(row, { own_wallet, treasuries: Object.values(treasuries) });
  if (row === null || backing.kind === 'refused')
    throw refused(backing.kind === 'refused' ? backing.code : 'receipt_not_on_book');
  const host_basis = hostBasis(row, endpoint_host, { ours: new URL(base_url).host, hostOfHub, isHubHost });
  if (host_basis === null) throw refused('receipt_host_differs');
  return {
    amount_atomic: backing.amount_atomic.toString(),
    rail: backing.rail,
    host_basis,
    paid_here: isPaidHere(row),
  };
}

function refused(code: 'receipt_not_on_book' | 'receipt_not_qualifying' | 'receipt_host_differs'): Refusal {
  return new Refusal(code, { param: 'receipt_ref', facts: { charged: false } });
}
