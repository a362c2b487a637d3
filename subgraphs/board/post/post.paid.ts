import type { BackingRail, HostBasis } from '../../../schema/board/post.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import type { PostRequest } from '../../../schema/requests/board.ts';
import { citedRow } from '../../book/page/cited-row.ts';
import { iso } from '../../clock.ts';
import { insertRows, type Tx } from '../../database.ts';
import type { Stamp, StampContext } from '../../sale.ts';
import { backingOf, backingSlot, hostBasis, isPaidHere } from '../backing.ts';
import type { BoardContext } from '../context.ts';
import { appendBoardEvents } from '../event/append.ts';
import { type ByAuthor, boardId, boardStamp } from '../stamp.ts';

/** Arguments of a post, to which the payment of the stamp is bound. */
type PostArgs = PostRequest & { readonly agent_id: AgentId };

/**
 * A post as it was recorded, with the members of REST except the links. Stored encrypted, and returned unchanged whenever the request is
 * sent again.
 */
export interface WrittenPost extends JsonObject {
  readonly post_id: string;
  readonly endpoint_host: string;
  readonly host_basis: PostBacking['host_basis'];
  readonly outcome: PostRequest['outcome'];
  readonly receipt_ref: string | null;
  readonly stamp_task_id: string;
  readonly amount_atomic: string;
  readonly rail: PostBacking['rail'];
  readonly latency_ms: number | null;
  readonly untrusted_text: string | null;
  readonly posted_at: string;
}

/**
 * A post is sold as a stamp. Its backing is checked before any money moves, and from then on its receipt backs nothing else. The result is
 * encrypted with the claim, so that the post states what was true when it was paid for.
 */
export const postPaid: Stamp<PostArgs, WrittenPost, PostBacking> = {
  ...boardStamp,
  field: 'Mutation.createPost',
  // Checked before the claim, so that no payment is held for an impossible post. The result that counts is that of `find`, which is
  // encrypted with the claim.
  admit: async (args, _payer, context) => void (await backedBy(args, context as BoardContext)),
  slots: ({ receipt_ref }) => (receipt_ref === null ? [] : [backingSlot(receipt_ref)]),
  slot_taken: 'receipt_backs_another',
  find: async (args, _payer, context) => ({ fact: await backedBy(args, context as BoardContext), slots: [] }),
  commit: writePost,
};

/** Records a post whose stamp is paid. Only the host of the endpoint is stored, because a path may contain a key. */
async function writePost(
  tx: Tx,
  { agent_id, endpoint_host, outcome, receipt_ref, latency_ms, text }: PostArgs,
  { task_id, recorded_at_ms }: StampContext,
  backing: PostBacking | null,
): Promise<WrittenPost> {
  if (backing === null) throw new Error(`${task_id} was settled without what backs its post`);
  const { paid_here = false, ...shown } = backing;
  const written = {
    post_id: boardId('post', task_id),
    endpoint_host,
    ...shown,
    outcome,
    receipt_ref,
    stamp_task_id: task_id,
    latency_ms,
    untrusted_text: text,
    posted_at: iso(recorded_at_ms),
  };
  insertRows(tx, 'board_post', [{ ...written, paid_here, agent_id, like_count: 0, confirm_count: 0, hidden: false }]);
  appendBoardEvents(tx, [{ kind: 'post_created', post_id: written.post_id, at_ms: recorded_at_ms }]);
  return written;
}

/** The backing of a post. It is read before the post's stamp is paid, and encrypted with the claim. */
interface PostBacking extends JsonObject {
  readonly amount_atomic: string;
  readonly rail: BackingRail;
  readonly host_basis: HostBasis;
  /** Result of `isPaidHere`. Absent in claims that were encrypted before this member existed. */
  readonly paid_here: boolean;
}

type BackingContext = Pick<
  BoardContext,
  'database' | 'base_url' | 'hostOfHub' | 'isHubHost' | 'treasuries' | 'walletOfAgent'
>;

/**
 * Finds what backs a post: the cited receipt, if it is on the author's book, paid another party, and concerns the endpoint's host. Without
 * a cited receipt the stamp backs the post, and the host is only declared by the author.
 * @throws receipt_not_on_book, receipt_not_qualifying, receipt_host_differs
 */
async function backedBy(
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
    throw backingRefusal(backing.kind === 'refused' ? backing.code : 'receipt_not_on_book');
  const host_basis = hostBasis(row, endpoint_host, { ours: new URL(base_url).host, hostOfHub, isHubHost });
  if (host_basis === null) throw backingRefusal('receipt_host_differs');
  return {
    amount_atomic: backing.amount_atomic.toString(),
    rail: backing.rail,
    host_basis,
    paid_here: isPaidHere(row),
  };
}

function backingRefusal(code: 'receipt_not_on_book' | 'receipt_not_qualifying' | 'receipt_host_differs'): Refusal {
  return new Refusal(code, { param: 'receipt_ref', facts: { charged: false } });
}
