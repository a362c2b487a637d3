import { Refusal } from '../../../schema/errors.ts';
import { type AgentId, agentId } from '../../../schema/ids.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database, Tx } from '../../database.ts';
import { readsOf } from '../../transaction.ts';
import type { BoardContext } from '../context.ts';
import { countJobs } from './agent-day.ts';
import { BoardBid } from './bid.entity.ts';
import type { ShownJob } from './job.type.ts';
import { requirePart, type StepContext, takeStep } from './step.ts';

/**
 * Picks a bid; all others expire. Price, payee and network are fixed from then on. Whether the payee can receive USDC is checked on the
 * chain first, without locks.
 * @throws job_not_found, bid_not_found, not_a_party, job_state_conflict, self_bid, payout_account_missing; network_not_served,
 * chain_unavailable if it could not be checked
 */
export async function pickBid(
  context: StepContext & Pick<BoardContext, 'payout_accounts' | 'walletOfAgent'>,
  agent_id: AgentId,
  { job_id, bid_id }: { readonly job_id: string; readonly bid_id: string },
): Promise<ShownJob> {
  const { database } = context;
  const job = await requirePart(context, agent_id, job_id, 'pick');
  const named = await bidOf(database, job_id, bid_id);
  if (job.pickedBidId !== bid_id) await requirePayee(context, agentId(job.agentId), named);
  return takeStep(context, agent_id, job_id, {
    action: 'pick',
    event: () => 'job_picked',
    wasTaken: standing => standing.pickedBidId === bid_id,
    async take(tx, _job, now_ms) {
      const bid = await bidOf(readsOf(tx), job_id, bid_id);
      if (bid.state !== 'open') {
        const detail = `The bid is ${bid.state}. Only an open bid can be picked.`;
        throw new Refusal('job_state_conflict', { param: 'bid_id', detail, facts: { bid_status: bid.state } });
      }
      endBids(tx, job_id, bid_id);
      countJobs(tx, [{ agent_id: bid.agentId, counter: 'jobs_won' }], now_ms);
      const { agentId: winnerAgentId, priceAtomic, network, payTo } = bid;
      return { pickedBidId: bid_id, winnerAgentId, priceAtomic, network, payTo, pickedAt: new Date(now_ms) };
    },
  });
}

/** Reads a bid on that job. @throws bid_not_found */
async function bidOf({ query }: Pick<Database, 'query'>, job_id: string, bid_id: string) {
  const [row] = await query({
    name: 'bid of job',
    text: `select ${selectList(BoardBid)} from board_bid where job_id = $1 and bid_id = $2`,
    values: [job_id, bid_id],
  });
  if (!row) throw new Refusal('bid_not_found', { param: 'bid_id' });
  return asEntity(BoardBid, row);
}

async function requirePayee(
  { payout_accounts, walletOfAgent }: Pick<BoardContext, 'payout_accounts' | 'walletOfAgent'>,
  poster: AgentId,
  { network, payTo }: BoardBid,
): Promise<void> {
  if (payTo === (await walletOfAgent(poster))) throw new Refusal('self_bid', { param: 'bid_id' });
  const account = await payout_accounts.look(network, payTo);
  if (account === 'missing') throw new Refusal('payout_account_missing', { param: 'bid_id' });
  if (account === 'unserved') throw new Refusal('network_not_served', { facts: { network } });
  if (account === 'unreachable') throw new Refusal('chain_unavailable');
}

/** Ends all open bids: the picked one as picked, the others as expired. */
function endBids(tx: Tx, job_id: string, bid_id: string | null): void {
  tx.write({
    name: 'end bids of job',
    text: `update board_bid set state = case when bid_id = $2 then 'picked' else 'expired' end
      where job_id = $1 and state = 'open'`,
    values: [job_id, bid_id],
  });
}

/**
 * Cancels a job without a picked bid. The stamps of the job and of its bids are not returned. @throws the errors of takeStep; not_a_party
 */
export async function cancelJob(acting: StepContext, agent_id: AgentId, job_id: string): Promise<ShownJob> {
  await requirePart(acting, agent_id, job_id, 'cancel');
  return takeStep(acting, agent_id, job_id, {
    action: 'cancel',
    event: () => 'job_cancelled',
    unread_before: true,
    wasTaken: (_job, state) => state === 'cancelled',
    take(tx, _job, now_ms) {
      endBids(tx, job_id, null);
      return { cancelledAt: new Date(now_ms) };
    },
  });
}
