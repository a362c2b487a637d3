import type { DisputedJob, JobPaidBy } from '../../book/dispute/disputed-job.ts';
import { feeSlot, legSlot } from './legs.ts';

const jobIn = (slot: string) => `when starts_with(s.slot, '${slot}') then substr(s.slot, ${slot.length + 1})`;

/** Finds the job that a task has paid for, by the slots that both payments of a job hold for ever once they are recorded. */
export const jobPaidBy: JobPaidBy = async (reads, task_id) => {
  const [found] = await reads.query<Omit<DisputedJob, Time> & Readonly<Record<Time, Date | null>>>({
    name: 'job paid by task',
    text: `select j.job_id, j.paid_at, j.challenged_at, j.closed_at as revealed_at, j.winner_agent_id,
        j.price_atomic::text as price, fee.amount_atomic::text as fee, fee.task_id as fee_task_id
      from payment_claim c join claim_slot s using (claim_key)
      join board_job j on j.job_id = case ${[legSlot(''), feeSlot('')].map(jobIn).join(' ')} end
      join claim_slot f on f.slot = '${feeSlot('')}' || j.job_id
      join payment_claim fee on fee.claim_key = f.claim_key and fee.state = 'recorded'
      where c.task_id = $1 and c.state = 'recorded' and j.paid_at is not null`,
    values: [task_id],
  });
  if (!found) return null;
  const [paid_at, challenged_at, revealed_at] = [found.paid_at, found.challenged_at, found.revealed_at].map(
    time => time?.toISOString() ?? null,
  );
  return { ...found, paid_at: String(paid_at), challenged_at: challenged_at ?? null, revealed_at: revealed_at ?? null };
};

type Time = 'paid_at' | 'challenged_at' | 'revealed_at';
