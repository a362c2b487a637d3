import { type AgentId, agentId } from '../../../schema/ids.ts';
import { lockNotified, notify, wantsNotice } from '../../book/ledger/notify.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database, Tx } from '../../database.ts';
import { addJobs } from '../../jobs.ts';
import { BoardBid } from './bid.entity.ts';

/*
 * Notifies a poster's webhook of bids. A worker job does it, because a transaction that has locked the board's head to record a bid must
 * not lock the head of a book after that.
 */

/** Adds the worker job that notifies the poster, if the poster subscribes to bids. Called in the transaction of the bid. */
export async function notifyPoster(tx: Tx, poster: AgentId, bid_id: string): Promise<void> {
  if (await wantsNotice(tx, poster, 'bid')) addJobs(tx, [{ task: 'board/bid', payload: { bid_id } }]);
}

/** Runs as a worker job. It notifies the poster once for each bid, however often it runs. */
export function announceBid({ transaction }: Pick<Database, 'transaction'>, bid_id: string): Promise<void> {
  return transaction(async tx => {
    const { rows } = await tx.query({
      name: 'bid to tell',
      // A bid is locked before the head of a book, in the same order as when a bid is recorded.
      text: `update board_bid set told_at = clock_timestamp() where bid_id = $1 and told_at is null
        returning ${selectList(BoardBid)}`,
      values: [bid_id],
    });
    if (!rows[0]) return;
    const { jobId: job_id, agentId: bidder, priceAtomic, revision } = asEntity(BoardBid, rows[0]);
    const poster = await posterOf(tx, job_id);
    const head = poster === null ? null : await lockNotified(tx, poster, 'bid');
    if (head) notify(tx, head, 'bid', { bid_id, job_id, agent_id: bidder, price: String(priceAtomic), revision });
  });
}

async function posterOf(tx: Tx, job_id: string): Promise<AgentId | null> {
  const { rows } = await tx.query<{ agent_id: number }>({
    name: 'poster of job',
    text: 'select agent_id from board_job where job_id = $1',
    values: [job_id],
  });
  return rows[0] ? agentId(rows[0].agent_id) : null;
}
