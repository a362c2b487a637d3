import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { reactionLimits } from '../../../schema/limits.ts';
import { citedRow } from '../../book/page/cited-row.ts';
import { writeInTurn } from '../../book/write-in-turn.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { takeFreeSlots } from '../../receipt/claim/slots.ts';
import { readsOf } from '../../transaction.ts';
import { backingSlot, type PartyWallets, walletsPaid } from '../backing.ts';
import type { BoardContext } from '../context.ts';
import { appendBoardEvents } from '../event/append.ts';
import { takeBoardUse } from '../uses.ts';
import { confirmFault } from './confirm-rule.ts';
import { lockPost, type ReactedPost } from './lock-post.ts';
import type { ConfirmedPost } from './reaction.type.ts';

interface Confirm {
  readonly agent_id: AgentId;
  readonly post_id: string;
  readonly receipt_ref: string;
}

type Confirmer = Pick<
  BoardContext,
  'database' | 'clock' | 'base_url' | 'hostOfHub' | 'isHubHost' | 'treasuries' | 'walletOfAgent'
>;

const { confirms_per_agent_hour_max: max } = reactionLimits;
const detail = `An agent confirms at most ${max} times in an hour.`;

/**
 * Confirms a post by a receipt on the agent's own book. The receipt is not published, and from then on it backs nothing else.
 * @throws not_found, post_taken_down, self_confirm, related_confirm, receipt_not_on_book, receipt_not_qualifying, receipt_host_differs,
 * receipt_backs_another, already_confirmed, rate_limited
 */
export async function confirmPost(context: Confirmer, confirm: Confirm): Promise<ConfirmedPost> {
  await takeBoardUse(context.database, { holder: `confirm:${confirm.agent_id}`, max, detail });
  // An agent's wallet never changes, so it can be read before the transaction, which shortens the time for which the post is locked.
  const own_wallet = await context.walletOfAgent(confirm.agent_id);
  const hands = { own_wallet, treasuries: Object.values(context.treasuries) };
  const write = (tx: Tx) => confirmIn(tx, context, { ...confirm, hands });
  return writeInTurn(confirm.agent_id, () => context.database.transaction(write));
}

/** Lock order: the post, the receipt's slot, the board's head. */
async function confirmIn(
  tx: Tx,
  { clock, base_url, hostOfHub, isHubHost }: Confirmer,
  confirm: Confirm & { readonly hands: PartyWallets },
): Promise<ConfirmedPost> {
  const { agent_id, post_id, receipt_ref, hands } = confirm;
  const post = await lockPost(tx, post_id);
  const standing = await standingConfirm(tx, confirm);
  if (standing && standing.receipt_ref !== receipt_ref)
    throw new Refusal('already_confirmed', { param: 'receipt_ref' });
  if (standing) return { postId: post_id, confirmCount: standing.confirm_count, idempotentReplay: true };
  const row = await citedRow(readsOf(tx), agent_id, receipt_ref);
  const { agent_id: author, endpoint_host } = post;
  const report_wallets = await walletsOf(tx, post, hands);
  const known = { ours: new URL(base_url).host, hostOfHub, isHubHost };
  const fault = confirmFault({ author, confirmer: agent_id, endpoint_host, row, report_wallets, hands }, known);
  if (fault !== null) throw new Refusal(fault, { param: 'receipt_ref' });
  const claim_key = `confirm:${post_id}:${agent_id}`;
  const missed = await takeFreeSlots(tx, [{ slot: backingSlot(receipt_ref), claim_key }]);
  if (missed.length > 0) throw new Refusal('receipt_backs_another', { param: 'receipt_ref' });
  const now_ms = clock.now_ms();
  const confirmCount = await storeConfirm(tx, confirm, iso(now_ms));
  appendBoardEvents(tx, [{ kind: 'post_confirmed', post_id, at_ms: now_ms }]);
  return { postId: post_id, confirmCount, idempotentReplay: false };
}

async function standingConfirm(tx: Tx, { post_id, agent_id }: Confirm) {
  const { rows } = await tx.query<{ receipt_ref: string; confirm_count: number }>({
    name: 'standing board confirm',
    text: `select c.receipt_ref, p.confirm_count from board_confirm c join board_post p using (post_id)
      where c.post_id = $1 and c.agent_id = $2`,
    values: [post_id, agent_id],
  });
  return rows[0] ?? null;
}

/**
 * Wallets of a report: of its author, of the payers of its stamp and of the cited receipt, and of those paid by the cited receipt. Both
 * receipts are on the author's book.
 */
async function walletsOf(
  tx: Tx,
  { agent_id, receipt_ref, stamp_task_id, author_wallet }: ReactedPost,
  hands: PartyWallets,
): Promise<readonly string[]> {
  const [stamp, cited] = await Promise.all(
    [stamp_task_id, receipt_ref].map(task_id => task_id && citedRow(readsOf(tx), agent_id, task_id)),
  );
  const paid = cited ? walletsPaid(cited, hands) : [];
  return [author_wallet, (stamp || null)?.payer_wallet, (cited || null)?.payer_wallet, ...paid].flatMap(it => it ?? []);
}

async function storeConfirm(tx: Tx, { post_id, agent_id, receipt_ref }: Confirm, at: string): Promise<number> {
  const { rows } = await tx.query<{ confirm_count: number }>({
    name: 'store board confirm',
    text: `with stored as (
        insert into board_confirm (post_id, agent_id, receipt_ref, confirmed_at) values ($1, $2, $3, $4))
      update board_post set confirm_count = confirm_count + 1 where post_id = $1 returning confirm_count`,
    values: [post_id, agent_id, receipt_ref, at],
  });
  const [stored] = rows;
  if (!stored) throw new Error(`${post_id} is gone under its lock`);
  return stored.confirm_count;
}
