import type { JobState } from '../../../schema/board/job.ts';
import { jobLimits, limits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import { asPrinted, asText, asTime, asWord, type Writing } from '../../json-sql.ts';
import { expiringStates } from './job.machine.ts';

/*
 * Jobs as SQL over the row `r` of `board_job` with `overdue` and `under_way` of find.ts, with the service's base URL as `$1` and its wallets
 * by network as `$2`. They must give the same as view.ts, job.machine.ts, legs.ts and job.resolver.ts.
 */

const receiptUrl = (task: string) => asText(`($1||'${verifyUrl('', '')}'||${task})`);
const asAmount = (column: string) => asWord(`${column}::text`);
const words = (states: readonly JobState[]) => states.map(state => `'${state}'`).join(', ');

const picked: JobState = 'picked';
const expired: JobState = 'expired';
const refused: JobState = 'refused';
const closed: JobState = 'closed';

/** The state at this time, as `jobStateBy` has it. */
const STATUS = `case when r.overdue and r.state in (${words(expiringStates)})
  then case when r.state = '${picked}' and r.refusals > 0 then '${refused}' else '${expired}' end else r.state end`;

const PICKED = 'r.price_atomic is not null and r.network is not null and r.pay_to is not null';

/** Both legs of `r` as a table `l`, in the order in which they are paid. */
const LEGS = `(values
  (1, 'winner', r.pay_to, r.price_atomic, r.leg_one_payment_ref,
    case when r.leg_one_task_id is not null then 'settled' when r.under_way then 'settling' else 'unpaid' end),
  (2, 'fee', $2::jsonb ->> r.network, ${limits.stamp_price_atomic} + div(r.price_atomic + 99, 100), r.fee_payment_ref,
    case when r.payout_task_id is not null then 'settled' when r.leg_one_task_id is not null and r.under_way then 'settling' else 'unpaid' end)
  ) l (place, leg, pay_to, amount, payment_ref, status)`;

const legWriting: Writing = {
  type: 'BoardJobLeg',
  fields: {
    leg: asWord('l.leg'),
    network: asWord('r.network'),
    payTo: asText('l.pay_to'),
    outputSha256: asText('r.output_sha256'),
    amount: asAmount('l.amount'),
    status: asWord('l.status'),
    paymentRef: asText('l.payment_ref'),
  },
  always: ['leg', 'network', 'amount', 'status'],
  list: each =>
    `case when ${PICKED} then (select '['||string_agg(${each}, ',' order by l.place)||']' from ${LEGS}) else '[]' end`,
};

const payoutWriting: Writing = {
  type: 'BoardJobPayout',
  fields: {
    taskId: asText('r.payout_task_id'),
    verifyUrl: receiptUrl('r.payout_task_id'),
    network: asWord('r.network'),
    payTo: asText('r.pay_to'),
    amount: asAmount('r.price_atomic'),
  },
  always: ['taskId', 'verifyUrl', 'network', 'payTo', 'amount'],
  where: `r.payout_task_id is not null and ${PICKED}`,
};

const bidWriting: Writing = {
  type: 'BoardBid',
  fields: {
    bidId: asText('b.bid_id'),
    jobId: asText('b.job_id'),
    agentId: asPrinted('b.agent_id'),
    status: asWord(`case when b.state = 'open' and ${STATUS} = '${expired}' then '${expired}' else b.state end`),
    revision: asPrinted('b.revision'),
    price: asAmount('b.price_atomic'),
    untrustedEta: asText('b.untrusted_eta'),
    untrustedPitch: asText('b.untrusted_pitch'),
    network: asWord('b.network'),
    payTo: asText('b.pay_to'),
    bidAt: asTime('b.bid_at'),
    verifyUrl: receiptUrl('b.stamp_task_id'),
  },
  always: ['bidId', 'jobId', 'agentId', 'status', 'revision', 'price', 'network', 'payTo', 'bidAt', 'verifyUrl'],
  list: each => `(select '['||coalesce(string_agg(${each}, ',' order by b.bid_id), '')||']' from (
    select * from board_bid where job_id = r.job_id order by bid_id limit ${jobLimits.bids_shown_max}) b)`,
};

export const jobWriting: Writing = {
  type: 'BoardJob',
  fields: {
    jobId: asText('r.job_id'),
    agentId: asPrinted('r.agent_id'),
    status: asWord(STATUS),
    delivered: asPrinted(`(r.delivered_at is not null and (r.challenged_at is null or r.state = '${closed}'))`),
    untrustedText: asText('r.untrusted_text'),
    untrustedAcceptanceTest: asText('r.untrusted_acceptance_test'),
    budget: asAmount('r.budget_atomic'),
    deadline: asTime('r.deadline'),
    postedAt: asTime('r.posted_at'),
    verifyUrl: receiptUrl('r.stamp_task_id'),
    bidCount: asPrinted('r.bid_count'),
    pickedBidId: asText('r.picked_bid_id'),
    winnerAgentId: asPrinted('r.winner_agent_id'),
    price: asAmount('r.price_atomic'),
    pickedAt: asTime('r.picked_at'),
    outputSha256: asText('r.output_sha256'),
    untrustedPreview: asText('r.untrusted_preview'),
    deliveredAt: asTime('r.delivered_at'),
    refusals: asPrinted('r.refusals'),
    refusedOutputSha256: asText('r.refused_output_sha256'),
    untrustedRefusalReason: asText('r.untrusted_refusal_reason'),
    refusedAt: asTime('r.refused_at'),
    cancelledAt: asTime('r.cancelled_at'),
    paidAt: asTime('r.paid_at'),
    challengedAt: asTime('r.challenged_at'),
    untrustedChallengeReason: asText('r.untrusted_challenge_reason'),
    closedAt: asTime('r.closed_at'),
    payout: payoutWriting,
    legs: legWriting,
    bids: bidWriting,
  },
  always: [
    'jobId',
    'agentId',
    'status',
    'delivered',
    'untrustedText',
    'budget',
    'deadline',
    'postedAt',
    'verifyUrl',
    'bidCount',
    'refusals',
  ],
};
