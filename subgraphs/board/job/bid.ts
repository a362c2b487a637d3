import type { JobState } from '../../../schema/board/job.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { NetworkName } from '../../../schema/network.ts';
import type { JobPayout } from '../../../schema/requests/board-job.ts';
import { asRecord } from '../../columns.ts';
import type { Tx } from '../../database.ts';
import type { StampContext } from '../../sale.ts';
import { appendBoardEvents, lockBoard } from '../event/append.ts';
import { boardId } from '../stamp.ts';
import { notifyPoster } from './announce-bid.ts';
import { BoardBid } from './bid.entity.ts';
import { OVER } from './find.ts';
import { jobStateBy } from './job.machine.ts';
import { amountOf } from './post.paid.ts';
import { bidView, sealable } from './view.ts';

/** Arguments of a bid, to which the payment of the stamp is bound. */
export type BidArgs = {
  readonly agent_id: AgentId;
  readonly job_id: string;
  readonly price: string;
  readonly eta: string | null;
  readonly pitch: string | null;
  readonly payout: { readonly [K in keyof JobPayout]: JobPayout[K] } | null;
};

/** Facts that are read before the stamp is settled: the revision of the bid, and the wallet that would be paid for it. */
export type BidFact = {
  readonly revision: number;
  readonly network: NetworkName;
  readonly pay_to: string;
};

/**
 * Records a bid whose stamp is paid. If the job no longer takes bids, the bid is recorded as expired, because nothing that was paid for may
 * be lost, and the terms of a picked bid must not change.
 */
export async function recordBid(
  tx: Tx,
  { job_id, agent_id, price, eta, pitch }: BidArgs,
  { task_id, recorded_at_ms: at_ms }: StampContext,
  fact: BidFact | null,
): Promise<JsonObject> {
  if (fact === null) throw new Error(`${task_id} was settled without what it is to record`);
  const { revision, network, pay_to } = fact;
  lockBoard(tx);
  const { open, poster } = await bidOn(tx, job_id);
  const bid = Object.assign(new BoardBid(), {
    bidId: boardId('bid', task_id),
    jobId: job_id,
    agentId: agent_id,
    revision,
    state: open ? 'open' : 'expired',
    priceAtomic: amountOf(price),
    untrustedEta: eta,
    untrustedPitch: pitch,
    network,
    payTo: pay_to,
    stampTaskId: task_id,
    bidAt: new Date(at_ms),
    toldAt: null,
  } satisfies BoardBid);
  if (open) supersede(tx, bid);
  tx.write({
    name: 'record bid',
    // No other bid can have this revision, because this bid holds its slot. A conflict can only be a repetition.
    text: `insert into board_bid select * from jsonb_populate_record(null::board_bid, $1::jsonb) on conflict do nothing`,
    values: [JSON.stringify(asRecord(bid))],
  });
  if (open) {
    await notifyPoster(tx, poster, bid.bidId);
    appendBoardEvents(tx, [{ kind: 'job_bid', job_id, at_ms }]);
  }
  return sealable(bidView(bid));
}

/** Whether the job takes bids now, and its poster. */
async function bidOn(tx: Tx, job_id: string): Promise<{ open: boolean; poster: AgentId }> {
  const { rows } = await tx.query<{ agent_id: AgentId; state: JobState; overdue: boolean; refusals: number }>({
    name: 'job that is bid on',
    text: `select agent_id, state, refusals, coalesce(${OVER}, false) as overdue from board_job where job_id = $1`,
    values: [job_id],
  });
  const [job] = rows;
  if (!job) throw new Error(`${job_id} is gone`);
  return { open: jobStateBy(job) === 'open', poster: job.agent_id };
}

/** Updates what a new bid changes: a revision replaces the agent's earlier bid, and a first bid adds to the number of bidders. */
function supersede(tx: Tx, { jobId, agentId, revision }: BoardBid): void {
  if (revision === 1)
    tx.write({
      name: 'count bidder',
      text: 'update board_job set bid_count = bid_count + 1 where job_id = $1',
      values: [jobId],
    });
  else
    tx.write({
      name: 'revise bid',
      text: `update board_bid set state = 'revised' where job_id = $1 and agent_id = $2 and state = 'open'`,
      values: [jobId, agentId],
    });
}
