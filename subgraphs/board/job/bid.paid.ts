import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { type AgentId, agentId } from '../../../schema/ids.ts';
import { jobLimits, limits } from '../../../schema/limits.ts';
import type { JobPayout } from '../../../schema/requests/board-job.ts';
import { signedText } from '../../../schema/signed-words.ts';
import type { Database } from '../../database.ts';
import type { Stamp } from '../../sale.ts';
import type { StampFact } from '../../stamped-row.ts';
import { verifyTextForService } from '../../verify-for-service.ts';
import type { BoardContext } from '../context.ts';
import { boardStamp } from '../stamp.ts';
import { type BidArgs, type BidFact, recordBid } from './bid.ts';
import { jobStandingOf, requireJob, requireShown } from './find.ts';
import { judgeJob, requireJobMove } from './job.machine.ts';
import { amountOf } from './post.paid.ts';

/** A bid, or the one revision of it, is sold as a stamp. */
export const bidOnJobPaid: Stamp<BidArgs, JsonObject, BidFact> = {
  ...boardStamp,
  field: 'Mutation.bidOnJob',
  slot_taken: 'bids_used',
  admit: async (args, _payer, context) => void (await findBid(args, context as BoardContext)),
  find: (args, _payer, context) => findBid(args, context as BoardContext),
  commit: recordBid,
};

/** Makes all checks of a bid. If two bids race for the same revision, one takes its slot, and the other is refused before it is paid. */
async function findBid(args: BidArgs, context: BoardContext): Promise<StampFact<BidFact>> {
  const { agent_id, job_id, payout } = args;
  const found = await requireJob(context.database, job_id);
  const { job } = found;
  requireShown(job, []);
  if (job.agentId === agent_id) throw new Refusal('self_bid');
  requireJobMove(judgeJob(jobStandingOf(found), 'bid'));
  if (amountOf(args.price) > job.budgetAtomic)
    throw new Refusal('invalid_request', {
      param: 'price',
      detail: `price must not exceed the budget of the job, ${job.budgetAtomic}.`,
    });
  if (payout !== null) await requirePayout(payout, args, context);
  const own_wallet = await context.walletOfAgent(agent_id);
  const paid_to =
    payout === null
      ? ({ network: 'base', pay_to: own_wallet } as const)
      : ({ network: payout.network, pay_to: payout.address } as const);
  if (paid_to.pay_to === null) throw new Refusal('forbidden');
  const { network, pay_to } = paid_to;
  if (pay_to === (await context.walletOfAgent(agentId(job.agentId)))) throw new Refusal('self_bid');
  const made = await bidsOfAgent(context.database, job_id, agent_id);
  if (made >= jobLimits.bids_per_agent_max) throw new Refusal('bids_used');
  if (made === 0 && job.bidCount >= jobLimits.bidders_max) throw new Refusal('bids_full');
  const revision = made + 1;
  return { fact: { revision, network, pay_to }, slots: [`board_bid:${job_id}:${agent_id}:${revision}`] };
}

async function bidsOfAgent({ query }: Pick<Database, 'query'>, job_id: string, agent_id: AgentId): Promise<number> {
  const [row] = await query<{ made: number }>({
    name: 'bids of agent on job',
    text: 'select coalesce(max(revision), 0)::int as made from board_bid where job_id = $1 and agent_id = $2',
    values: [job_id, agent_id],
  });
  return row?.made ?? 0;
}

interface Payout {
  readonly job_id: string;
  readonly agent_id: number;
  readonly address: string;
}

/** Text that the owner of a payout address signs. It names one job and one bidder, so that the signature cannot be used for another bid. */
export function payoutText(base_url: string, payout: Payout, at_seconds: number): string {
  return signedText('payout', base_url, { ...payout, unix_seconds: at_seconds });
}

/** Checks that the owner of the payout address has signed the text of this bid recently. @throws payout_not_proven */
async function requirePayout(
  { network, address, signature, signature_timestamp: at }: JobPayout,
  { job_id, agent_id }: { readonly job_id: string; readonly agent_id: AgentId },
  { clock, transfers, principal, base_urls }: Pick<BoardContext, 'clock' | 'transfers' | 'principal' | 'base_urls'>,
): Promise<void> {
  const age_seconds = clock.now_ms() / 1_000 - at;
  const fresh =
    age_seconds <= jobLimits.payout_signature_seconds_max && age_seconds >= -limits.wallet_signature_ahead_seconds_max;
  if (!fresh) throw new Refusal('payout_not_proven', { param: 'payout.signature_timestamp' });
  const by = { network, payer: address, signature, asker: principal.address };
  const text = (base_url: string) => payoutText(base_url, { job_id, agent_id, address }, at);
  if ((await verifyTextForService(base_urls.map(text), by, it => transfers.verifySigner(it, by))) !== 'valid')
    throw new Refusal('payout_not_proven', { param: 'payout.signature' });
}
