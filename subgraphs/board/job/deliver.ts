import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { jobLimits } from '../../../schema/limits.ts';
import type { BoardJob } from './job.entity.ts';
import type { ShownJob } from './job.type.ts';
import { requirePart, type StepContext, takeStep } from './step.ts';

/** Delivery of a winner: what it states about the output before it is paid. */
interface DeliveredHash {
  readonly job_id: string;
  /** SHA-256 of the output, 64 hex digits in lower case. */
  readonly output_sha256: string;
  readonly preview: string | null;
}

/**
 * Delivers the hash of an output, or replaces the delivered hash while nothing is paid for it. From the first delivery on, the poster can
 * pay until some days after the deadline. @throws the errors of takeStep; not_a_party, output_refused, deliveries_used
 */
export async function deliverJob(
  acting: StepContext,
  agent_id: AgentId,
  { job_id, output_sha256, preview }: DeliveredHash,
): Promise<ShownJob> {
  await requirePart(acting, agent_id, job_id, 'deliver');
  return takeStep(acting, agent_id, job_id, {
    action: 'deliver',
    event: () => 'job_delivered',
    retires_delivery: true,
    wasTaken: (job, state) =>
      job.outputSha256 === output_sha256 && job.untrustedPreview === preview && state !== 'expired',
    take(_tx, job, now_ms) {
      // Without this check, a repeated request for a refused delivery would deliver the refused output again.
      if (job.refusedOutputSha256 === output_sha256) throw new Refusal('output_refused', { param: 'output_sha256' });
      return {
        outputSha256: output_sha256,
        untrustedPreview: preview,
        deliveredAt: new Date(now_ms),
        deliveriesRetired: job.deliveredAt === null ? job.deliveriesRetired : countReplacement(job),
        endsAt: new Date(job.deadline.getTime() + jobLimits.pay_within_seconds * 1_000),
      };
    },
  });
}

/** The number of retired deliveries after one more replacement. @throws deliveries_used */
function countReplacement({ deliveriesRetired, refusals }: BoardJob): number {
  if (deliveriesRetired - refusals >= jobLimits.deliveries_replaced_max) throw new Refusal('deliveries_used');
  return deliveriesRetired + 1;
}
