import type { AgentId } from '../../../schema/ids.ts';
import type { ShownJob } from './job.type.ts';
import { endBids } from './pick.ts';
import { type Acting, requirePart, takeStep } from './step.ts';

/** Cancels a job of which no bid is picked. What was paid for it and for the bids stays paid. @throws as takeStep; not_a_party */
export async function cancelJob(acting: Acting, agent_id: AgentId, job_id: string): Promise<ShownJob> {
  await requirePart(acting, agent_id, job_id, 'cancel');
  return takeStep(acting, agent_id, job_id, {
    action: 'cancel',
    event: () => 'job_cancelled',
    unread_before: true,
    taken: (_job, state) => state === 'cancelled',
    take(tx, _job, now_ms) {
      endBids(tx, job_id, null);
      return { cancelledAt: new Date(now_ms) };
    },
  });
}
