import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { countJobs } from './agent-day.ts';
import type { ShownJob } from './job.type.ts';
import { requirePart, type StepContext, takeStep } from './step.ts';

/** Delivery that a poster refuses, and the reason. */
interface RefusedDelivery {
  readonly job_id: string;
  /** SHA-256 of the refused output, 64 hex digits in lower case. */
  readonly output_sha256: string;
  readonly reason: string;
}

/**
 * Refuses a delivery before anything is paid for it. The winner may deliver another output until the deadline. If no other delivery may
 * follow, the job ends. @throws the errors of takeStep; not_a_party, job_output_differs
 */
export async function refuseDelivery(
  acting: StepContext,
  agent_id: AgentId,
  { job_id, output_sha256, reason }: RefusedDelivery,
): Promise<ShownJob> {
  await requirePart(acting, agent_id, job_id, 'refuse');
  return takeStep(acting, agent_id, job_id, {
    action: 'refuse',
    event: to => (to === 'refused' ? 'job_refused' : 'job_delivery_refused'),
    unread_before: true,
    retires_delivery: true,
    // A refused output cannot be delivered again, so a request that names it repeats the refusal.
    wasTaken: ({ refusedOutputSha256 }) => refusedOutputSha256 === output_sha256,
    take(tx, job, now_ms) {
      requireOutput(job, output_sha256);
      const parties = [
        { agent_id: job.agentId, counter: 'refusals_made' },
        { agent_id: job.winnerAgentId, counter: 'refusals_received' },
      ] as const;
      countJobs(tx, parties, now_ms);
      const { deliveriesRetired, refusals, deadline } = job;
      return {
        outputSha256: null,
        untrustedPreview: null,
        deliveredAt: null,
        deliveriesRetired: deliveriesRetired + 1,
        refusals: refusals + 1,
        refusedOutputSha256: output_sha256,
        untrustedRefusalReason: reason,
        refusedAt: new Date(now_ms),
        endsAt: deadline,
      };
    },
  });
}

interface StoredDelivery {
  readonly outputSha256: string | null;
}

/** The refusal if the named hash is not the delivered one. Null if it is, or if none is named. */
export function outputRefusal({ outputSha256 }: StoredDelivery, named: string | null): Refusal | null {
  if (named === null || named === outputSha256) return null;
  return new Refusal('job_output_differs', {
    param: 'output_sha256',
    facts: { output_sha256: outputSha256, charged: false },
  });
}

/** Checks that the named hash, if any, is the delivered one. @throws job_output_differs */
export function requireOutput(delivered: StoredDelivery, named: string | null): void {
  const refusal = outputRefusal(delivered, named);
  if (refusal !== null) throw refusal;
}

/**
 * Records that nothing was revealed for a paid job. The job stays paid, and a valid output still closes it. @throws the errors of takeStep;
 * not_a_party
 */
export async function challengeJob(
  acting: StepContext,
  agent_id: AgentId,
  { job_id, reason }: { readonly job_id: string; readonly reason: string | null },
): Promise<ShownJob> {
  await requirePart(acting, agent_id, job_id, 'challenge');
  return takeStep(acting, agent_id, job_id, {
    action: 'challenge',
    event: () => 'job_challenged',
    wasTaken: ({ state, challengedAt }) => state === 'paid' && challengedAt !== null,
    take: (_tx, _job, now_ms) => ({ challengedAt: new Date(now_ms), untrustedChallengeReason: reason }),
  });
}
