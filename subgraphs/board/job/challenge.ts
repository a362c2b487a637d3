import type { AgentId } from '../../../schema/ids.ts';
import type { ShownJob } from './job.type.ts';
import { type Acting, requirePart, takeStep } from './step.ts';

/** Says that nothing came for what was paid. The job stays paid, and a valid output still closes it. @throws as takeStep; not_a_party */
export async function challengeJob(
  acting: Acting,
  agent_id: AgentId,
  { job_id, reason }: { readonly job_id: string; readonly reason: string | null },
): Promise<ShownJob> {
  await requirePart(acting, agent_id, job_id, 'challenge');
  return takeStep(acting, agent_id, job_id, {
    action: 'challenge',
    event: () => 'job_challenged',
    taken: ({ state, challengedAt }) => state === 'paid' && challengedAt !== null,
    take: (_tx, _job, now_ms) => ({ challengedAt: new Date(now_ms), untrustedChallengeReason: reason }),
  });
}
