import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { PostRequest } from '../../../schema/requests/board.ts';
import { iso } from '../../clock.ts';
import { insertRows, type Tx } from '../../database.ts';
import type { Stamp, Stamped } from '../../sale.ts';
import { backingSlot } from '../backing.ts';
import type { BoardContext } from '../context.ts';
import { appendBoardEvents } from '../event/append.ts';
import { boardId, boardStamp } from '../stamp.ts';
import { backedBy, type PostBacking } from './backed-by.ts';

/** What is posted, and by whom: what the stamp's payment is bound to. */
export type PostArgs = PostRequest & { readonly agent_id: AgentId };

/** A post as it was written, by the members of REST but for its links: kept sealed, and the same whenever it is sent again. */
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
 * A post is sold as a stamp. What backs it is looked at before any money moves, and held for ever from then on; what was found
 * is sealed with the claim, so that the post says what was so when it was paid for.
 */
export const postPaid: Stamp<PostArgs, WrittenPost, PostBacking> = {
  ...boardStamp,
  field: 'Mutation.createPost',
  // Before the claim, so that nobody's payment is held for what cannot be; what is found counts as it is sealed.
  admit: async (args, _payer, context) => void (await backedBy(args, context as BoardContext)),
  slots: ({ receipt_ref }) => (receipt_ref === null ? [] : [backingSlot(receipt_ref)]),
  slot_taken: 'receipt_backs_another',
  find: async (args, _payer, context) => ({ fact: await backedBy(args, context as BoardContext), slots: [] }),
  commit: writePost,
};

/** Of the endpoint its host alone is kept: a path may hold a key, and nobody reads it. */
async function writePost(
  tx: Tx,
  { agent_id, endpoint_host, outcome, receipt_ref, latency_ms, text }: PostArgs,
  { task_id, recorded_at_ms }: Stamped,
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
